import { Type as t } from 'typebox'
import { anyone, projectEvenArchived as project, readsCode, repository } from '../../access/gates/gates.ts'
import { languagesOf } from '../../core/repositories/languages.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { listOf } from '../../http/params/schema.ts'
import { GroupPlace, presentPlace } from '../../records/places/group_place.ts'
import { listGroups } from './group_store.ts'
import { presentPage } from '../../http/answers/pages.ts'

export const getProjectLanguages = operation({
  method: 'GET',
  path: '/projects/:id/languages',
  summary: 'Get the languages of the default branch, by their share of the bytes',
  published: true,
  gates: [project, repository, readsCode],
  handle: async ({ project, repository }) => {
    const { default_branch: branch } = project
    const tip = branch === null ? undefined : await repository.ref(`refs/heads/${branch}`)
    return tip === undefined ? {} : languagesOf(repository, tip)
  },
  returns: t.Record(t.String(), t.Number(), { description: 'Percentages, the largest first; five at most' }),
})

export const listProjectGroups = operation({
  method: 'GET',
  path: '/projects/:id/groups',
  summary: 'List the groups above a project, and those it is shared with',
  published: true,
  params: t.Object({
    search: t.Optional(t.String({ maxLength: 1_000, description: 'Part of the name or path' })),
    skip_groups: t.Optional(listOf(t.Integer())),
    with_shared: t.Boolean({ default: false }),
    shared_visible_only: t.Boolean({
      default: false,
      description: 'Taken, and changes nothing: no others are ever shown',
    }),
    shared_min_access_level: t.Optional(
      t.Unsafe<number>({ type: 'integer', enum: Object.values(ROLES).filter((level) => level > 0) }),
    ),
  }),
  gates: [project, anyone],
  handle: async (ctx) => {
    const { db, actor, project, params, page } = ctx
    const found = await listGroups(db, actor, project, {
      search: params.search ?? '',
      skip: params.skip_groups ?? [],
      shared: params.with_shared,
      least: params.shared_min_access_level ?? 0,
      ...page,
    })
    return presentPage(found, (row) => presentPlace(row, ctx))
  },
  returns: pageOf(GroupPlace),
})
