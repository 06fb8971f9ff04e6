import type { Command } from 'commander'
import {
  DEFAULT_FEATURES,
  DEFAULT_SETTINGS,
  SECRET_SETTINGS,
  setFeature,
  setSetting,
  type FeatureName,
  type SettingName,
  type Settings,
} from '../core/settings/settings.ts'
import { sealSetting } from '../access/secret_settings.ts'
import { OFFERINGS, TIERS } from '../config.ts'
import { VISIBILITIES } from '../core/values/visibilities.ts'
import { keysOf } from '../http/params/schema.ts'
import { Misuse, command, family, withInstance } from './command.ts'
import { oneOf } from './words.ts'

const FEATURES = keysOf(DEFAULT_FEATURES)
const SETTINGS = keysOf(DEFAULT_SETTINGS)
const UNDER = 'Switches (a running server hears of a change at once)'

const readFeature = (given: string): FeatureName => oneOf(FEATURES, given, 'feature flag')
const readSetting = (given: string): SettingName => oneOf(SETTINGS, given, 'setting')

/** Commands about feature flags and instance settings. */
export function addSwitches(program: Command): void {
  addFeature(family(program, 'feature', 'Feature flags'))
  addSetting(family(program, 'setting', 'Settings of the instance'))
}

function addFeature(parent: Command): void {
  command({
    parent,
    name: 'list',
    description: 'list the flags and whether they are on',
    under: UNDER,
  }).action((options: object) =>
    withInstance({ ...options }, async ({ instance }, { say }) => {
      const all = FEATURES.map((name) => ({ name, enabled: instance.settings.enabled(name) }))
      say(all, all.map(({ name, enabled }) => `${enabled ? 'on ' : 'off'}  ${name}`).join('\n'))
    }),
  )
  for (const [verb, state, enabled] of [
    ['enable', 'on', true],
    ['disable', 'off', false],
  ] as const)
    command({ parent, name: verb, description: `switch a flag ${state}`, under: UNDER })
      .argument('<name>', `one of ${FEATURES.join(', ')}`, readFeature)
      .action((name: FeatureName, options: object) =>
        withInstance({ ...options }, async ({ instance }, { say }) => {
          await setFeature(instance.db, name, enabled)
          say({ name, enabled }, `${name} is ${state}.`)
        }),
      )
}

function addSetting(parent: Command): void {
  command({ parent, name: 'list', description: 'list the settings and their values', under: UNDER }).action(
    (options: object) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const all = Object.fromEntries(SETTINGS.map((name) => [name, shown(instance.settings, name)]))
        say(all, SETTINGS.map((name) => `${name} = ${String(all[name])}`).join('\n'))
      }),
  )
  command({ parent, name: 'get', description: 'show one setting', under: UNDER })
    .argument('<name>', 'see setting list', readSetting)
    .action((name: SettingName, options: object) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const value = shown(instance.settings, name)
        say({ name, value }, String(value))
      }),
    )
  command({ parent, name: 'set', description: 'change one setting', under: UNDER })
    .argument('<name>', 'see setting list', readSetting)
    .argument('<value>', 'its new value')
    .action(async (name: SettingName, text: string, options: object) => {
      const value = readValue(name, text)
      await withInstance({ ...options }, async ({ instance }, { say }) => {
        const secret = SECRET_SETTINGS.has(name)
        await setSetting(instance.db, name, secret ? sealSetting(instance.vault, String(value)) : value)
        const told = secret ? HIDDEN : value
        say({ name, value: told }, `${name} = ${String(told)}`)
      })
    })
}

const HIDDEN = '(secret)'

/** A setting as people are shown it: of a secret, no more than whether there is one. */
function shown(settings: Settings, name: SettingName): string | number | boolean {
  const value = settings.get(name)
  return SECRET_SETTINGS.has(name) && value !== '' ? HIDDEN : value
}

/** Reads a value of the kind that the setting has. */
function readValue(name: SettingName, text: string): string | number | boolean {
  switch (typeof DEFAULT_SETTINGS[name]) {
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw new Misuse(`${name} takes true or false, not "${text}"`)
      return text === 'true'
    case 'number':
      if (name === 'default_branch_protection') return checkProtection(text)
      if (!/^\d{1,9}$/.test(text) || Number(text) === 0)
        throw new Misuse(`${name} takes a whole number from 1 to 999999999, not "${text}"`)
      return Number(text)
    default:
      return checkText(name, text)
  }
}

function checkProtection(text: string): number {
  if (!/^[0-4]$/.test(text))
    throw new Misuse(`default_branch_protection takes a whole number from 0 to 4, not "${text}"`)
  return Number(text)
}

/** Settings that take one of a few words. */
const CHOICES: Partial<Record<SettingName, readonly string[]>> = {
  default_group_visibility: VISIBILITIES,
  default_project_visibility: VISIBILITIES,
  email_confirmation_setting: ['off', 'soft'],
  offering: OFFERINGS,
  tier: TIERS,
}

function checkText(name: SettingName, text: string): string {
  const choices = CHOICES[name]
  if (choices?.includes(text) === false)
    throw new Misuse(`${name} takes ${choices.join(', ').replace(/, ([^,]*)$/, ' or $1')}, not "${text}"`)
  if (name === 'analytics_cubes' && !/^[A-Za-z_]\w*(,[A-Za-z_]\w*)*$/.test(text))
    throw new Misuse(
      `${name} takes names of cubes with commas, such as TrackedEvents,Sessions, not "${text}"`,
    )
  if (name === 'analytics_api_base_url' && text !== '' && !/^https?:\/\/[^\s/]/.test(text))
    throw new Misuse(`${name} takes an http or https address, not "${text}"`)
  if (name === 'personal_access_token_prefix' && !/^[\w-]{0,20}$/.test(text))
    throw new Misuse(`${name} takes up to 20 letters, digits, _ and -, not "${text}"`)
  return text
}
