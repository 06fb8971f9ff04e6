import { Type as t } from 'typebox'
import { VISIBILITIES } from '../../core/values/visibilities.ts'
import { settingParams, readSettings, type SettingChanges } from '../../records/places/project_features.ts'
import { listOf, noAvatar, nullable, oneOf } from '../../http/params/schema.ts'
import { MAX_TOPICS, cleanTopics } from '../../core/places/project_rules.ts'

/** Settings of a project at creation and later. */
export const fields = {
  name: t.Optional(t.String({ maxLength: 1_000 })),
  path: t.Optional(t.String({ maxLength: 1_000 })),
  description: t.Optional(nullable(t.String({ maxLength: 10_000 }))),
  avatar: noAvatar,
  visibility: t.Optional(oneOf(VISIBILITIES)),
  default_branch: t.Optional(t.String({ maxLength: 1_000 })),
  topics: t.Optional(listOf(t.String({ maxLength: 255 }))),
  tag_list: t.Optional(
    t.Array(t.String({ maxLength: 255 }), {
      commas: true,
      deprecated: true,
      description: 'Deprecated: topics',
    }),
  ),
  ...settingParams,
}

/** Clients in Go send every text they have, empty where none was given. */
export const branchIn = ({ default_branch }: { readonly default_branch?: string }): string | undefined =>
  default_branch === '' ? undefined : default_branch

interface Given {
  readonly topics?: readonly string[]
  readonly tag_list?: readonly string[]
}

interface Settled extends SettingChanges {
  /** Undefined when none were given. */
  readonly topics: string[] | undefined
}

/** Parameters besides name, path, visibility and branch. */
export function settle(params: Given & Readonly<Record<string, unknown>>): Settled {
  const topics = params.topics ?? params.tag_list
  return { ...readSettings(params), topics: topics && cleanTopics(topics).slice(0, MAX_TOPICS) }
}
