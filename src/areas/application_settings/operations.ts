import { Type as t, type Static } from 'typebox'
import { administrator, signedIn } from '../../access/gates/gates.ts'
import { sealSetting } from '../../access/secret_settings.ts'
import { SECRET_SETTINGS, setSetting, type SettingName, type Settings } from '../../core/settings/settings.ts'
import { operation } from '../../http/operation.ts'
import { invalid } from '../../http/problems.ts'
import { NAMES, SETTINGS, canonical, faultsOf } from './rules.ts'

const ApplicationSettings = t.Object({
  ...Object.fromEntries(
    Object.entries(SETTINGS).filter(([name]) => !SECRET_SETTINGS.has(name as SettingName)),
  ),
  cube_api_base_url: t.String(),
})

type Values = Partial<Record<SettingName, string | number | boolean>>

function present(settings: Settings, fresh: Values = {}): Static<typeof ApplicationSettings> {
  const values = Object.fromEntries(NAMES.map((name) => [name, fresh[name] ?? settings.get(name)]))
  return { ...values, cube_api_base_url: String(values['analytics_api_base_url']) }
}

export const getApplicationSettings = operation({
  method: 'GET',
  path: '/application/settings',
  summary: 'Get the settings of the instance, without secrets',
  published: true,
  first: [signedIn, administrator],
  gates: [],
  handle: async ({ settings }) => present(settings),
  returns: ApplicationSettings,
})

export const updateApplicationSettings = operation({
  method: 'PUT',
  path: '/application/settings',
  summary: 'Change settings of the instance, in force from the next request on',
  published: true,
  first: [signedIn, administrator],
  params: t.Object(
    {
      ...(t.Partial(t.Object(SETTINGS)).properties as Record<string, ReturnType<typeof t.Optional>>),
      cube_api_base_url: t.Optional(t.String()),
      cube_api_key: t.Optional(t.String()),
    },
    { atLeastOne: [...NAMES, 'cube_api_base_url', 'cube_api_key'] },
  ),
  gates: [],
  handle: async ({ db, settings, vault, params }) => {
    const changes = canonical(params)
    const faults = faultsOf(changes)
    if (Object.keys(faults).length > 0) throw invalid(faults)
    for (const [name, value] of Object.entries(changes) as [SettingName, string | number | boolean][])
      await setSetting(db, name, SECRET_SETTINGS.has(name) ? sealSetting(vault, String(value)) : value)
    return present(settings, changes)
  },
  returns: ApplicationSettings,
  refuses: [invalid({ analytics_api_base_url: ['is blocked: Only allowed schemes are http, https'] })],
})
