import { Type as t } from 'typebox'
import { code } from '../../access/gates/code_gates.ts'
import { mayReadCode } from '../../access/gates/gates.ts'
import { findStart, isRelated } from '../../core/places/fork_network.ts'
import { repositoryPath, type Project } from '../../core/places/projects.ts'
import { ROLES, canSee } from '../../core/sight/roles.ts'
import { isWider } from '../../core/values/visibilities.ts'
import { borrowCommit } from '../../git/borrowing.ts'
import { Commit as CommitRecord, presentCommit } from '../../records/repositories/commit.ts'
import { readCommits } from '../../core/repositories/commit_reading.ts'
import { Diff, presentPatch } from '../../records/repositories/patch.ts'
import type { Commit } from '../../git/objects/commit.ts'
import type { Repository } from '../../git/repository.ts'
import type { Has } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { notFound, refused, type Problem } from '../../http/problems.ts'
import { filled, nullable } from '../../http/params/schema.ts'

const Comparison = t.Object({
  commit: nullable(CommitRecord),
  commits: t.Array(CommitRecord),
  diffs: t.Array(Diff),
  compare_timeout: t.Boolean(),
  compare_same_ref: t.Boolean(),
  web_url: t.String(),
})

/** The most commits that are told, the newest. */
const MAX_COMMITS = 1_000

const noRef = (): Problem => notFound('Ref')

const notFork = (from = 0, id = 0): Problem =>
  refused(`Target project id:${from} is not a fork of project id:${id}`)

type Asked = Has<{ project: Project; repository: Repository }> & {
  readonly params: { readonly from: string; readonly from_project_id?: number }
}

/** The commit that is compared with, of a fork where one is named. A hidden project is as good as none. */
async function fromOf(ctx: Asked): Promise<Commit | undefined> {
  const { db, git, actor, project, repository, params } = ctx
  const { from, from_project_id: id = project.id } = params
  if (id === project.id) return find(repository, from)
  const other = await findStart(db, String(id), actor?.id ?? null)
  const seen =
    other !== undefined &&
    canSee(actor, other.visibility, other.role, ROLES.guest) &&
    mayReadCode(actor, other)
  if (!seen || !isRelated(other, project)) throw notFork(id, project.id)
  const there = git.repository(repositoryPath(other.id))
  const sha = (await there.exists()) ? await there.resolve(from) : undefined
  if (sha === undefined) return undefined
  const here = await repository.commit(sha)
  if (here !== undefined || actor === null) return here
  // A copied commit is readable by all readers of this project: nothing is taken from a fork that is less open.
  const asOpen = !isWider(project.visibility, other.visibility)
  if (!asOpen || other.visibility === 'private' || other.repository_access_level !== 'enabled')
    return undefined
  await borrowCommit(git, sha, { from: repositoryPath(other.id), to: repositoryPath(project.id) })
  return repository.commit(sha)
}

export const getComparison = operation({
  method: 'GET',
  path: '/projects/:id/repository/compare',
  summary: 'Compare two branches, tags or commits',
  published: true,
  first: code,
  params: t.Object({
    from: filled(),
    to: filled(),
    straight: t.Boolean({
      default: false,
      description: 'Compare the two themselves, not `to` with where they parted',
    }),
    unidiff: t.Boolean({ default: false }),
    from_project_id: t.Optional(t.Integer({ description: 'Where `from` is: the project itself or a fork' })),
  }),
  gates: [],
  handle: async (ctx) => {
    const { repository, project, params, config } = ctx
    const [from, to] = await Promise.all([fromOf(ctx), find(repository, params.to)])
    if (from === undefined || to === undefined) throw noRef()
    const base = params.straight ? from : await partingOf(repository, from, to)
    const [shas, patch] = await Promise.all([
      repository.log({ from: [to.id], exclude: [from.id], skip: 0, limit: MAX_COMMITS }),
      repository.patch(base.tree, to.tree),
    ])
    const found = await readCommits(repository, shas.toReversed())
    const commits = found.map((commit) => presentCommit(commit, project, ctx))
    const dots = params.straight ? '..' : '...'
    return {
      commit: commits.at(-1) ?? null,
      commits,
      diffs: patch.files.map((file) => presentPatch(file, params.unidiff)),
      compare_timeout: !patch.complete,
      compare_same_ref: from.id === to.id,
      web_url: `${config.url}/${project.full_path}/-/compare/${encodeURI(params.from)}${dots}${encodeURI(params.to)}`,
    }
  },
  returns: Comparison,
  refuses: [noRef, notFork],
})

async function find(repository: Repository, rev: string): Promise<Commit | undefined> {
  const sha = await repository.resolve(rev)
  return sha === undefined ? undefined : repository.commit(sha)
}

/** Where the two parted; without anything in common `from` itself. */
async function partingOf(repository: Repository, from: Commit, to: Commit): Promise<Commit> {
  const sha = await repository.mergeBase(from.id, to.id)
  return (sha === undefined ? undefined : await repository.commit(sha)) ?? from
}

const noBase = (): Problem => notFound('Merge Base')
const tooFewRefs = (): Problem => refused('Provide at least 2 refs')
const unknownRefs = (refs: readonly string[] = ['gone']): Problem =>
  refused(`Could not find ${refs.length === 1 ? 'ref' : 'refs'}: ${refs.join(', ')}`)

export const getMergeBase = operation({
  method: 'GET',
  path: '/projects/:id/repository/merge_base',
  summary: 'Get the merge base of two or more branches, tags or commits',
  published: true,
  first: code,
  params: t.Object({ refs: t.Array(t.String()) }),
  gates: [],
  handle: async (ctx) => {
    const { repository, project, params } = ctx
    const { refs } = params
    if (refs.length < 2) throw tooFewRefs()
    const shas = await Promise.all(refs.map((ref) => repository.resolve(ref)))
    const unknown = refs.filter((_ref, i) => shas[i] === undefined)
    if (unknown.length > 0) throw unknownRefs(unknown)
    const [first = '', second = '', ...others] = shas.filter((sha) => sha !== undefined)
    const sha = await (others.length === 0
      ? repository.mergeBase(first, second)
      : repository.mergeBaseOfAll(first, [second, ...others]))
    const base = sha === undefined ? undefined : await repository.commit(sha)
    if (base === undefined) throw noBase()
    return presentCommit(base, project, ctx)
  },
  returns: CommitRecord,
  refuses: [tooFewRefs, unknownRefs, noBase],
})
