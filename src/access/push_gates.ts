import { CommitRefused } from '../core/commit_writing.ts'
import type { Project } from '../core/projects.ts'
import { mayPush, pushRules, ruleWhileEmpty, type PushRule } from '../core/protected_branches.ts'
import type { Repository } from '../git/repository.ts'
import type { Actor, Gate, Has } from '../http/operation.ts'
import { forbidden, refused } from '../http/problems.ts'

type Here = Has<{ project: Project; repository: Repository; actor: Actor }>

/** What somebody may do to a branch. */
export interface PushRight {
  readonly pushes: boolean
  /** Whether its history may be replaced. */
  readonly rewrites: boolean
}

/** What the caller may do to the branch, as its protection stands now. */
export async function pushRight(ctx: Here, branch: string): Promise<PushRight> {
  const { actor, db, project } = ctx
  // Whom no rule could let in costs no look at the rules.
  if (!mayPush(undefined, { role: project.role, admin: actor.admin }))
    return { pushes: false, rewrites: false }
  const rule = (await pushRules(db, project))(branch) ?? (await ruleOfFirst(ctx, branch))
  return {
    pushes: mayPush(rule, { role: project.role, admin: actor.admin }),
    rewrites: rule === undefined || rule.allowForcePush,
  }
}

async function ruleOfFirst({ repository, settings }: Here, branch: string): Promise<PushRule | undefined> {
  if ((await repository.resolve(`refs/heads/${branch}`)) !== undefined) return undefined
  return (await repository.exists()) && (await repository.isEmpty()) ? ruleWhileEmpty(settings) : undefined
}

/** Who may push into the branch that the parameters name. */
export const pushes: Gate<
  'allows',
  never,
  { project: Project; repository: Repository; actor: Actor; params: { branch: string } },
  { right: PushRight }
> = {
  kind: 'allows',
  says: 'whoever may push into the branch: at least Developer, or as its protection says',
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
