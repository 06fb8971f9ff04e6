import { Type as t, type Static, type TObject } from 'typebox'
import { attributeFilter } from '../../core/people/custom_attributes.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Actor } from '../../http/gate.ts'
import type { Keyset, PageRequest } from '../../http/operation.ts'
import { noKeyset, offsetTooDeep, refused, type Problem } from '../../http/problems.ts'
import { attributesParam, date, listOf, oneOf, timestamp } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import type { Listed } from '../../db/pages.ts'
import { meant } from '../../db/text.ts'
import {
  ANY_PROJECT,
  PROJECT_LIST_SHAPE,
  PROJECT_ORDERS,
  type ProjectListFilters,
  type ProjectListShape,
} from '../../core/lists/project_shape.ts'
import { VISIBILITIES } from '../../core/values/visibilities.ts'
import { presentRecord, type Project } from '../../records/places/full_project.ts'
import { withCommitCount } from './commit_counts.ts'
import { listProjects } from './list_store.ts'

const flag = t.Boolean({ default: false })

/** Filters of every project list. */
export const listParams = {
  archived: t.Optional(t.Boolean()),
  visibility: t.Optional(oneOf(VISIBILITIES)),
  order_by: oneOf(PROJECT_ORDERS, { default: 'created_at' }),
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  search: t.Optional(
    t.String({
      maxLength: 1_000,
      description:
        'Part of the name, path or description; the whole name or path where that is less than three letters',
    }),
  ),
  search_namespaces: t.Optional(t.Boolean({ description: 'The path of the namespace is searched too' })),
  simple: flag,
  owned: flag,
  membership: flag,
  starred: flag,
  min_access_level: t.Optional(
    t.Unsafe<number>({ type: 'integer', enum: Object.values(ROLES).filter((level) => level > 0) }),
  ),
  with_issues_enabled: flag,
  with_merge_requests_enabled: flag,
  topic: t.Optional(listOf(t.String())),
  topic_id: t.Optional(t.Integer({ description: 'Finds nothing: topics have names alone' })),
  imported: t.Boolean({ default: false, description: 'Those that the caller imported by address' }),
  active: t.Optional(t.Boolean({ description: 'Those that are not archived; or those that are' })),
  marked_for_deletion_on: t.Optional(
    t.Unsafe<string>({ ...date(), description: 'Finds nothing: what is deleted is gone at once' }),
  ),
  repository_checksum_failed: t.Boolean({ default: false, description: 'Finds nothing when true' }),
  wiki_checksum_failed: t.Boolean({ default: false, description: 'Finds nothing when true' }),
  id_after: t.Optional(t.Integer()),
  id_before: t.Optional(t.Integer()),
  last_activity_after: t.Optional(timestamp()),
  last_activity_before: t.Optional(timestamp()),
  updated_after: t.Optional(timestamp()),
  updated_before: t.Optional(timestamp()),
  statistics: t.Boolean({ default: false, description: 'Of those where the caller is a Reporter or more' }),
  with_custom_attributes: t.Boolean({ default: false, description: 'For administrators' }),
  custom_attributes: attributesParam,
}
type ListParams = Static<TObject<typeof listParams>>

const DEEPEST = 50_000
export const tooDeep = (): Problem => offsetTooDeep(DEEPEST, 'Project')
export const unpaired = (): Problem => refused('`updated_at` filter and `updated_at` sorting must be paired')

interface Ask extends Pick<Instance, 'config' | 'db' | 'git'> {
  readonly actor: Actor | null
  readonly params: ListParams
  readonly page: PageRequest
}

/** The least level asked for; undefined when none is. Without a token nobody holds any. */
function roleOf(actor: Actor | null, params: ListParams): number | undefined {
  if (actor === null) return undefined
  const { owned, membership, min_access_level } = params
  const levels = [
    ...(owned ? [ROLES.owner] : []),
    ...(membership ? [ROLES.guest] : []),
    ...(min_access_level === undefined ? [] : [Math.max(min_access_level, ROLES.guest)]),
  ]
  return levels.length === 0 ? undefined : Math.max(...levels)
}

/** Answers a list of projects: `of` says which, by what stands in the path. */
export async function answerList(
  ask: Ask,
  of: ProjectListShape['of'],
  place: Partial<Pick<ProjectListFilters, 'of_id' | 'of_path'>> = {},
): Promise<Listed<Static<typeof Project>> | Keyset<Static<typeof Project>>> {
  const { db, git, actor, params, page } = ask
  const [shape, values] = wanted(ask, of)
  if (isNowhere(ask))
    return page.cursor === undefined ? { items: [], total: 0 } : { items: [], next: undefined }
  const found = await listProjects(db, actor, shape, { ...values, ...place })
  const view = {
    signedIn: actor !== null,
    admin: actor?.admin === true,
    simple: params.simple,
    statistics: params.statistics,
    customAttributes: params.with_custom_attributes && actor?.admin === true,
  }
  const items: Static<typeof Project>[] = []
  // One after the other: a page of counts is not to hold up what others ask of git.
  for (const row of found.items.slice(0, page.limit))
    items.push(await withCommitCount(git, row, presentRecord(row, ask, view)))
  if (page.cursor === undefined) return { items, total: found.total }
  const last = items.at(-1)
  if (last === undefined || found.items.length <= page.limit) return { items, next: undefined }
  return { items, next: { [shape.descending ? 'id_before' : 'id_after']: String(last.id) } }
}

/** Whether something is asked for that no project here ever is. */
const isNowhere = ({ actor, params }: Ask): boolean =>
  params.topic_id !== undefined ||
  params.marked_for_deletion_on !== undefined ||
  params.repository_checksum_failed ||
  params.wiki_checksum_failed ||
  (params.imported && actor === null) ||
  (params.active !== undefined && params.active === params.archived)

/** Filters that exclude each other. */
function check({ order_by, ...params }: ListParams, page: PageRequest): void {
  if (page.cursor !== undefined && order_by !== 'id') throw noKeyset()
  if (page.cursor === undefined && page.offset > DEEPEST) throw tooDeep()
  const updated = params.updated_after ?? params.updated_before
  if (updated !== undefined && order_by !== 'updated_at') throw unpaired()
}

type Ranges = Pick<
  ProjectListFilters,
  'id_after' | 'id_before' | 'active_after' | 'active_before' | 'updated_after' | 'updated_before'
>
const rangesOf = (params: ListParams): Ranges => ({
  id_after: params.id_after ?? ANY_PROJECT.id_after,
  id_before: params.id_before ?? ANY_PROJECT.id_before,
  active_after: params.last_activity_after ?? ANY_PROJECT.active_after,
  active_before: params.last_activity_before ?? ANY_PROJECT.active_before,
  updated_after: params.updated_after ?? ANY_PROJECT.updated_after,
  updated_before: params.updated_before ?? ANY_PROJECT.updated_before,
})

function wanted(
  { actor, params, page }: Ask,
  of: ProjectListShape['of'],
): [ProjectListShape, Parameters<typeof listProjects>[3]] {
  const keyset = page.cursor !== undefined
  const order = params.order_by
  const { updated_after, updated_before, topic = [], search = '' } = params
  check(params, page)
  const attributes = attributeFilter(actor, params.custom_attributes)
  const role = roleOf(actor, params)
  const { with_issues_enabled, with_merge_requests_enabled, last_activity_after, last_activity_before } =
    params
  const shape: ProjectListShape = {
    ...PROJECT_LIST_SHAPE,
    of,
    order,
    descending: params.sort !== 'asc',
    visibility: params.visibility ?? null,
    archived: params.archived ?? (params.active === undefined ? null : !params.active),
    search: meant(search),
    topic: topic.length > 0,
    attributes: attributes !== undefined,
    starred: actor !== null && params.starred,
    imported: params.imported,
    role: role !== undefined,
    ids: (params.id_after ?? params.id_before) !== undefined,
    uses: [
      ...(with_issues_enabled ? (['issues'] as const) : []),
      ...(with_merge_requests_enabled ? (['merge_requests'] as const) : []),
    ],
    active: (last_activity_after ?? last_activity_before) !== undefined,
    updated: (updated_after ?? updated_before) !== undefined,
    uncounted: keyset,
  }
  const values = {
    ...ANY_PROJECT,
    search,
    namespaces: params.search_namespaces ?? false,
    topics: topic,
    attributes: attributes ?? ANY_PROJECT.attributes,
    role: role ?? 0,
    ...rangesOf(params),
    limit: keyset ? page.limit + 1 : page.limit,
    offset: keyset ? 0 : page.offset,
  }
  return [shape, values]
}
