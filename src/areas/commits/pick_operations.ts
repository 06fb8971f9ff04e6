import { Type as t, type TProperties } from 'typebox'
import { MAX_MESSAGE_BYTES } from '../../git/objects/commit.ts'
import { code, commit } from '../../access/gates/code_gates.ts'
import { signedIn } from '../../access/gates/gates.ts'
import { committed, pushes } from '../../access/gates/push_gates.ts'
import { Commit } from '../../records/repositories/commit.ts'
import { messageOr } from '../../core/repositories/commit_messages.ts'
import { moveBranch, signatureOf } from '../../core/pushes/commit_writing.ts'
import { mergedOne } from '../../core/merge_requests/rows.ts'
import { hasFeature } from '../../core/places/project_features.ts'
import { presentFresh } from '../../records/repositories/fresh_commit.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Commit as GitCommit, Signature } from '../../git/objects/commit.ts'
import type { MergeResult } from '../../git/objects/merge.ts'
import { isRefName } from '../../git/names.ts'
import type { Repository } from '../../git/repository.ts'
import type { Actor, Gate, Has } from '../../http/gate.ts'
import { Answer, operation } from '../../http/operation.ts'
import { notFound, refused, type Problem } from '../../http/problems.ts'
import { filled } from '../../http/params/schema.ts'
import { cherryPickMessage, revertMessage } from './rules.ts'

const noBranch = (): Problem => notFound('Branch')
const badBranch = (): Problem => refused('The branch refname is invalid')

/** The tip of the branch that the parameters name. */
const branchTip: Gate<
  'checks',
  never,
  { repository: Repository; params: { branch: string } },
  { tip: string }
> = {
  kind: 'checks',
  says: 'a branch of the repository',
  refuses: noBranch,
  pass: async ({ repository, params: { branch } }) => {
    if (!isRefName(branch)) throw badBranch()
    const tip = await repository.ref(`refs/heads/${branch}`)
    return tip === undefined ? undefined : { tip }
  },
}

/** Differences between cherry-pick and revert. */
interface Kind {
  readonly verb: 'cherry-pick' | 'revert'
  readonly done: string
  readonly merge: (repository: Repository, question: Question) => Promise<MergeResult>
  readonly message: (commit: GitCommit, given: string | undefined) => string
  readonly author: (commit: GitCommit, caller: Signature) => Signature
}
interface Question {
  readonly commit: string
  readonly onto: string
  readonly dryRun: boolean
}

const PICK: Kind = {
  verb: 'cherry-pick',
  done: 'cherry-picked',
  merge: (repository, question) => repository.pick(question),
  message: (commit, given) => messageOr(given, cherryPickMessage(commit)),
  author: (commit) => commit.author,
}
const REVERT: Kind = {
  verb: 'revert',
  done: 'reverted',
  merge: (repository, question) => repository.revert(question),
  message: (commit) => revertMessage(commit),
  author: (_, caller) => caller,
}

interface Failure {
  readonly fault: 'conflict' | 'empty'
  readonly dryRun: boolean
  readonly what?: 'commit' | 'merge request'
}
const cannot = ({ verb, done }: Kind, { fault, dryRun, what = 'commit' }: Failure): Problem =>
  refused(
    `Sorry, we cannot ${verb} this ${what} automatically. This ${what} may already have been ${done}, ` +
      'or a more recent commit may have updated some of its content.',
    { error_code: fault, ...(dryRun && { dry_run: 'error' }) },
  )

type Here = Has<{
  project: Project
  repository: Repository
  actor: Actor
  commit: GitCommit
  tip: string
  params: { branch: string; dry_run?: boolean; message?: string }
}>

/** The refusal, in words for what the commit stands for. */
async function failed(kind: Kind, { db, actor, project, commit }: Here, failure: Failure): Promise<Problem> {
  const merges = hasFeature(actor, project, 'merge_requests') && (await mergedOne(db, project.id, commit.id))
  return cannot(kind, { ...failure, what: merges ? 'merge request' : 'commit' })
}

async function apply(kind: Kind, ctx: Here): Promise<Answer> {
  const { repository, commit, params, tip } = ctx
  if (params.dry_run === true) {
    const tried = await kind.merge(repository, { commit: commit.id, onto: tip, dryRun: true })
    if ('fault' in tried) throw await failed(kind, ctx, { fault: tried.fault, dryRun: true })
    return new Answer(200, { dry_run: 'success' })
  }
  const committer = signatureOf(ctx.actor, ctx.now)
  const sha = await committed(
    moveBranch(ctx, params.branch, false, async (onto) => {
      if (onto === undefined) throw noBranch()
      const merged = await kind.merge(repository, { commit: commit.id, onto, dryRun: false })
      if ('fault' in merged) throw await failed(kind, ctx, { fault: merged.fault, dryRun: false })
      return repository.writeCommit({
        tree: merged.tree,
        parents: [onto],
        author: kind.author(commit, committer),
        committer,
        message: kind.message(commit, params.message),
      })
    }),
  )
  return new Answer(201, await presentFresh(ctx, sha, false))
}

const branchAndTrial = {
  branch: filled(),
  dry_run: t.Boolean({ default: false, description: 'Try, and commit nothing' }),
} satisfies TProperties
const Tried = t.Object({ dry_run: t.String() })
const gates = [signedIn, pushes, commit, branchTip] as const

export const cherryPickCommit = operation({
  method: 'POST',
  path: '/projects/:id/repository/commits/:sha/cherry_pick',
  summary: 'Cherry-pick a commit',
  published: true,
  moves: 'refs',
  first: code,
  params: t.Object({
    ...branchAndTrial,
    message: t.Optional(
      t.String({ maxBytes: MAX_MESSAGE_BYTES, description: 'Instead of that of the commit' }),
    ),
  }),
  gates,
  handle: (ctx) => apply(PICK, ctx),
  returns: Commit,
  also: { 200: Tried },
  refuses: [badBranch, cannot(PICK, { fault: 'conflict', dryRun: false })],
})

export const revertCommit = operation({
  method: 'POST',
  path: '/projects/:id/repository/commits/:sha/revert',
  summary: 'Revert a commit',
  published: true,
  moves: 'refs',
  first: code,
  params: t.Object(branchAndTrial),
  gates,
  handle: (ctx) => apply(REVERT, ctx),
  returns: Commit,
  also: { 200: Tried },
  refuses: [badBranch, cannot(REVERT, { fault: 'conflict', dryRun: false })],
})
