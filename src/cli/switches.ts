import type { Command } from 'commander'
import {
  DEFAULT_FEATURES,
  DEFAULT_SETTINGS,
  setFeature,
  setSetting,
  type FeatureName,
  type SettingName,
} from '../core/settings.ts'
import { Refusal, command, withInstance } from './command.ts'

const FEATURES = Object.keys(DEFAULT_FEATURES) as FeatureName[]
const SETTINGS = Object.keys(DEFAULT_SETTINGS) as SettingName[]

/** Commands about feature flags and instance settings. A running server hears of a change at once. */
export function addSwitches(program: Command): void {
  addFeature(program.command('feature').description('feature flags'))
  addSetting(program.command('setting').description('instance settings'))
}

function addFeature(feature: Command): void {
  command(feature, 'list', 'list the flags and whether they are on').action((options: object) =>
    withInstance({ ...options }, async ({ instance }, { say }) => {
      const all = FEATURES.map((name) => ({ name, enabled: instance.settings.enabled(name) }))
      say(all, all.map(({ name, enabled }) => `${enabled ? 'on ' : 'off'}  ${name}`).join('\n'))
    }),
  )
  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const)
    command(feature, verb, `switch a flag ${enabled ? 'on' : 'off'}`)
      .argument('<name>', 'the flag')
      .action((name: string, options: object) =>
        withInstance({ ...options }, async ({ instance }, { say }) => {
          const known = oneOf(FEATURES, name, 'feature flag')
          await setFeature(instance.db, known, enabled)
          say({ name: known, enabled }, `${known} is ${enabled ? 'on' : 'off'}.`)
        }),
      )
}

function addSetting(setting: Command): void {
  command(setting, 'list', 'list the settings and their values').action((options: object) =>
    withInstance({ ...options }, async ({ instance }, { say }) => {
      const all = Object.fromEntries(SETTINGS.map((name) => [name, instance.settings.get(name)]))
      say(all, SETTINGS.map((name) => `${name} = ${String(all[name])}`).join('\n'))
    }),
  )
  command(setting, 'get', 'show one setting')
    .argument('<name>', 'the setting')
    .action((name: string, options: object) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const known = oneOf(SETTINGS, name, 'setting')
        const value = instance.settings.get(known)
        say({ name: known, value }, String(value))
      }),
    )
  command(setting, 'set', 'change one setting')
    .argument('<name>', 'the setting')
    .argument('<value>', 'its new value')
    .action((name: string, text: string, options: object) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const known = oneOf(SETTINGS, name, 'setting')
        const value = readValue(known, text)
        await setSetting(instance.db, known, value)
        say({ name: known, value }, `${known} = ${String(value)}`)
      }),
    )
}

function oneOf<Name extends string>(names: readonly Name[], given: string, what: string): Name {
  const found = names.find((name) => name === given)
  if (found === undefined) throw new Refusal(`there is no ${what} "${given}"; there are ${names.join(', ')}`)
  return found
}

/** Reads a value of the kind that the setting has. */
function readValue(name: SettingName, text: string): string | number | boolean {
  switch (typeof DEFAULT_SETTINGS[name]) {
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw new Refusal(`${name} takes true or false`)
      return text === 'true'
    case 'number':
      if (!/^\d{1,9}$/.test(text) || Number(text) === 0)
        throw new Refusal(`${name} takes a whole number above 0`)
      return Number(text)
    default:
      return checkText(name, text)
  }
}

function checkText(name: SettingName, text: string): string {
  const isVisibility = name === 'default_project_visibility' || name === 'default_group_visibility'
  if (isVisibility && !['private', 'internal', 'public'].includes(text))
    throw new Refusal(`${name} takes private, internal or public`)
  if (name === 'personal_access_token_prefix' && !/^[\w-]{0,20}$/.test(text))
    throw new Refusal(`${name} takes up to 20 letters, digits, _ and -`)
  return text
}
