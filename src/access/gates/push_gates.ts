import { branchesOpenTo } from '../../core/repositories/collaboration.ts'
import { CommitRefused } from '../../core/pushes/commit_writing.ts'
import type { Project } from '../../core/places/projects.ts'
import {
  mayPush,
  pushRules,
  ruleWhileEmpty,
  type PushRule,
} from '../../core/repositories/protected_branches.ts'
import type { Repository } from '../../git/repository.ts'
import type { Actor, Gate, Has } from '../../http/gate.ts'
import { forbidden, refused } from '../../http/problems.ts'

type Here = Has<{ project: Project; repository: Repository; actor: Actor }>

/** Acts on a branch. */
interface PushRight {
  readonly pushes: boolean
  /** Whether its history may be replaced. */
  readonly rewrites: boolean
}

/** Rights of the caller on the branch, as its protection stands now. */
export async function pushRight(ctx: Here, branch: string): Promise<PushRight> {
  const { actor, project } = ctx
  const holder = { id: actor.id, role: project.role, admin: actor.admin }
  // Callers whom no rule could admit cost no read of the rules.
  if (!mayPush(undefined, holder)) {
    const isOffered = (await branchesOpenTo(ctx.db, project, actor.id)).has(branch)
    return { pushes: isOffered, rewrites: isOffered }
  }
  const rule = await ruleOf(ctx, branch)
  return { pushes: mayPush(rule, holder), rewrites: rule === undefined || rule.allowForcePush }
}

/**
 * The rule of a branch. Looked at in this order, so that nobody slips in behind a first commit before its branch is
 * protected: while it is being made the rule of empty repositories holds.
 */
async function ruleOf(ctx: Here, branch: string): Promise<PushRule | undefined> {
  const { db, pendingRefUpdates: moving, project, repository, settings } = ctx
  const begins = moving.isFirst(project.id)
  const isThere = (await repository.ref(`refs/heads/${branch}`)) !== undefined
  const rule = (await pushRules(db, project))(branch)
  if (rule !== undefined || (isThere && !begins)) return rule
  if (begins || ((await repository.exists()) && (await repository.isEmpty()))) return ruleWhileEmpty(settings)
  return (await pushRules(db, project))(branch)
}

/** The right to push to the branch of the parameters. */
export const pushes: Gate<
  'allows',
  never,
  { project: Project; repository: Repository; actor: Actor; params: { branch: string } },
  { right: PushRight }
> = {
  kind: 'allows',
  says: 'the right to push to the branch: at least Developer, or as its protection or an open merge request allows',
  refuses: () => forbidden('You are not allowed to push into this branch'),
  pass: async (ctx) => {
    const right = await pushRight(ctx, ctx.params.branch)
    return right.pushes ? { right } : undefined
  },
}

/** Awaits a commit; why it was refused becomes the published answer. */
export const committed = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw error instanceof CommitRefused ? refused(error.message) : error
  })
