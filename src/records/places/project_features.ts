import { Type as t, type TBoolean, type TInteger, type TUnsafe } from 'typebox'
import {
  FEATURE_LEVELS,
  FEATURE_SWITCHES,
  FLAGS,
  NUMBERS,
  TEXTS,
  UNSERVED_FLAGS,
  WORDS,
  levelOf,
  type Feature,
  type FeatureLevel,
} from '../../core/sight/project_settings.ts'
import type { Project } from '../../db/schema/tables.ts'
import { keysOf, nullable, oneOf } from '../../http/params/schema.ts'

// Settings of a project, under the names that set them.

type LevelName = `${Feature}_access_level`

const FEATURES = keysOf(FEATURE_LEVELS)
const FLAG_NAMES = keysOf(FLAGS)
const WORD_NAMES = keysOf(WORDS)
const NUMBER_NAMES = keysOf(NUMBERS)
const SWITCH_NAMES = keysOf(FEATURE_SWITCHES)
const LEVELS = ['disabled', 'private', 'enabled'] as const

const each = <Name extends string, T>(names: readonly Name[], make: (name: Name) => T): { [N in Name]: T } =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as { [N in Name]: T }

const text = (): TUnsafe<string | null> => nullable(t.String())

/** The fields that show settings. */
export const settingFields = {
  ...each(
    FEATURES.map((feature) => `${feature}_access_level` as const),
    () => oneOf(LEVELS),
  ),
  ...each(SWITCH_NAMES, (): TBoolean => t.Boolean()),
  ...each(FLAG_NAMES, (): TBoolean => t.Boolean()),
  ...each(WORD_NAMES, (): TUnsafe<string> => t.Unsafe({ type: 'string' })),
  ...each(TEXTS, text),
  ...each(NUMBER_NAMES, (): TInteger => t.Integer()),
  emails_disabled: t.Boolean(),
}

type Shown = { [N in LevelName]: FeatureLevel } & { [N in (typeof SWITCH_NAMES)[number]]: boolean } & {
  [N in (typeof FLAG_NAMES)[number]]: boolean
} & { [N in (typeof WORD_NAMES)[number]]: string } & {
  [N in (typeof TEXTS)[number]]: string | null
} & { [N in (typeof NUMBER_NAMES)[number]]: number } & { emails_disabled: boolean }

const STANDING = {
  ...FLAGS,
  ...each(WORD_NAMES, (name): string => WORDS[name][0]),
  ...each(TEXTS, (): string | null => null),
  ...NUMBERS,
}
const KNOWN = new Set(Object.keys(STANDING))

/** The settings of the project over their defaults. */
export function presentSettings(row: Project): Shown {
  const shown: Record<string, unknown> = { ...STANDING }
  for (const name in row.settings) if (KNOWN.has(name)) shown[name] = row.settings[name]
  for (const feature of FEATURES) shown[`${feature}_access_level`] = levelOf(row, feature)
  for (const name of SWITCH_NAMES)
    shown[name] = shown[`${FEATURE_SWITCHES[name]}_access_level`] !== 'disabled'
  for (const name of UNSERVED_FLAGS) shown[name] = false
  shown['emails_disabled'] = shown['emails_enabled'] === false
  return shown as Shown
}

const short = t.Optional(nullable(t.String({ maxLength: 255 })))
const template = t.Optional(nullable(t.String({ maxLength: 10_000 })))

/** The parameters that set them. */
export const settingParams = {
  ...each(
    FEATURES.map((feature) => `${feature}_access_level` as const),
    () => t.Optional(oneOf(LEVELS)),
  ),
  ...each(SWITCH_NAMES, () => t.Optional(t.Boolean())),
  ...each(FLAG_NAMES, () => t.Optional(t.Boolean())),
  ...each(WORD_NAMES, (name) => t.Optional(oneOf(WORDS[name]))),
  ...each(TEXTS, (name) =>
    name === 'issue_branch_template' || name === 'ci_config_path' ? short : template,
  ),
  ...each(NUMBER_NAMES, () => t.Optional(t.Integer({ minimum: 0, maximum: 2_592_000 }))),
  emails_disabled: t.Optional(t.Boolean({ deprecated: true, description: 'Deprecated: emails_enabled' })),
}

/** The given settings: entries of the settings, and the one level that is a column. */
export interface SettingChanges {
  readonly settings: Readonly<Record<string, unknown>>
  readonly repository_access_level: FeatureLevel | undefined
}

/** The changes that a caller asked for. A level says more than its older switch, and both then say the same. */
export function readSettings(params: Readonly<Record<string, unknown>>): SettingChanges {
  const settings: Record<string, unknown> = {}
  for (const name of KNOWN) if (params[name] !== undefined) settings[name] = params[name]
  for (const name of SWITCH_NAMES)
    if (params[name] !== undefined)
      settings[`${FEATURE_SWITCHES[name]}_access_level`] = params[name] === true ? 'enabled' : 'disabled'
  for (const feature of FEATURES) {
    const level = params[`${feature}_access_level`]
    if (level !== undefined && feature !== 'repository') settings[`${feature}_access_level`] = level
  }
  // The lists of projects filter by the switches.
  for (const name of SWITCH_NAMES) {
    const level = settings[`${FEATURE_SWITCHES[name]}_access_level`]
    if (level !== undefined) settings[name] = level !== 'disabled'
  }
  if (params['emails_disabled'] !== undefined && params['emails_enabled'] === undefined)
    settings['emails_enabled'] = params['emails_disabled'] !== true
  return {
    settings,
    repository_access_level: params['repository_access_level'] as FeatureLevel | undefined,
  }
}
