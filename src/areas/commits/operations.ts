import { Type as t } from 'typebox'
import { code, commit } from '../../access/gates/code_gates.ts'
import { Commit, CommitDetail, presentCommit, presentPage } from '../../records/repositories/commit.ts'
import { readCommits } from '../../core/repositories/commit_reading.ts'
import { lastPipeline } from '../../core/delivery/pipelines.ts'
import { seesPipelines } from '../../core/places/project_features.ts'
import { presentPipeline } from '../../records/pipelines/pipeline.ts'
import type { Project } from '../../core/places/projects.ts'
import type { LogQuery } from '../../git/history/log.ts'
import type { Repository } from '../../git/repository.ts'
import type { Has } from '../../http/gate.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { notFound, refused, type Problem } from '../../http/problems.ts'
import { oneOf, timestamp } from '../../http/params/schema.ts'
import { readRange } from './rules.ts'

export { createCommit } from './create_operations.ts'
export { cherryPickCommit, revertCommit } from './pick_operations.ts'
export { getCommitSequence, listCommitReferences } from './reach_operations.ts'

type Here = Has<{ project: Project; repository: Repository }>

/** Clients with types cannot read what they did not ask for. */
const trailers = t.Boolean({ default: false, description: 'Parse the trailers of messages' })

const badRef = (): Problem => refused('ref_name is invalid')
const noRepository = (): Problem => notFound('Repository')

export const listCommits = operation({
  method: 'GET',
  path: '/projects/:id/repository/commits',
  summary: 'List commits, newest first',
  first: code,
  params: t.Object({
    ref_name: t.Optional(
      t.String({
        description:
          'A branch, a tag, a hash, an ancestor of one (`main~2`, `v1^2`), or a range `A..B` or `A...B`',
      }),
    ),
    since: t.Optional(timestamp()),
    until: t.Optional(timestamp()),
    path: t.Optional(t.String({ description: 'Only commits that changed this file or folder' })),
    author: t.Optional(t.String({ description: 'Part of the author, as `Name <email>`' })),
    follow: t.Boolean({ default: false, description: 'With a file as `path`: over its renames' }),
    all: t.Boolean({ default: false, description: 'From every branch and tag' }),
    with_stats: t.Boolean({ default: false }),
    first_parent: t.Boolean({ default: false }),
    order: oneOf(['default', 'topo'], { default: 'default' }),
    trailers,
  }),
  gates: [],
  handle: async (ctx) => {
    const { repository, project, params, page } = ctx
    const start = await startOf(ctx, params.ref_name ?? '', params.all)
    if (start === undefined) return { items: [], total: undefined }
    const shas = await repository.log({
      ...start,
      ...(params.path && { path: params.path }),
      ...(params.author && { author: params.author }),
      ...(params.since && { since: new Date(params.since) }),
      ...(params.until && { until: new Date(params.until) }),
      firstParent: params.first_parent,
      follow: params.follow,
      order: params.order,
      skip: page.offset,
      limit: page.limit,
    })
    const { with_stats, trailers } = params
    if (!with_stats && !trailers)
      return { items: await presentPage(shas, repository, project, ctx), total: undefined }
    const [commits, stats] = await Promise.all([
      readCommits(repository, shas),
      with_stats ? repository.stats(shas) : undefined,
    ])
    const items = commits.map((commit) =>
      presentCommit(commit, project, ctx, { stats: stats?.get(commit.id), trailers }),
    )
    return { items, total: undefined }
  },
  returns: pageOf(Commit, { strict: true }),
  refuses: [badRef, noRepository],
})

/** Where a list starts; undefined when there is nothing to list. */
async function startOf(
  ctx: Here,
  refName: string,
  all: boolean,
): Promise<Pick<LogQuery, 'from' | 'all' | 'exclude'> | undefined> {
  const { repository } = ctx
  if (/^-|\s/.test(refName)) throw badRef()
  if (all) {
    if (!(await repository.exists())) throw noRepository()
    return { all: true }
  }
  const { from, exclude, symmetric } = readRange(refName)
  const [tip, left] = await Promise.all([
    from === '' ? defaultTip(ctx) : repository.resolve(from),
    exclude === undefined ? undefined : exclude === '' ? defaultTip(ctx) : repository.resolve(exclude),
  ])
  if (tip !== undefined && left !== undefined && symmetric) {
    const bases = await repository.mergeBases(left, tip)
    return { from: [left, tip], exclude: bases }
  }
  if (tip !== undefined && (exclude === undefined || left !== undefined))
    return { from: [tip], ...(left !== undefined && { exclude: [left] }) }
  if (!(await repository.exists())) throw noRepository()
  return undefined
}

const defaultTip = ({ repository, project }: Here): Promise<string | undefined> =>
  repository.resolve(project.default_branch === null ? 'HEAD' : `refs/heads/${project.default_branch}`)

export const getCommit = operation({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha',
  summary: 'Get a commit',
  first: code,
  params: t.Object({
    stats: t.Boolean({ default: true }),
    trailers,
  }),
  gates: [commit],
  handle: async (ctx) => {
    const { repository, project, commit, params } = ctx
    const [stats, pipeline] = await Promise.all([
      !params.stats ? undefined : repository.stats([commit.id]),
      seesPipelines(ctx.actor, project) ? lastPipeline(ctx.db, project.id, commit.id) : undefined,
    ])
    const parts = { stats: stats?.get(commit.id), trailers: params.trailers }
    const presented = presentCommit(commit, project, ctx, parts)
    return Object.assign(presented, {
      status: pipeline?.status ?? null,
      project_id: project.id,
      last_pipeline: pipeline ? presentPipeline(pipeline, project, ctx) : null,
    })
  },
  returns: CommitDetail,
})
