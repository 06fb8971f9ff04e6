import { GitRefusal, type GitEntry } from '../access/git_access.ts'
import { branchesOpenTo } from '../core/repositories/collaboration.ts'
import { pushRules, ruleWhileEmpty } from '../core/repositories/protected_branches.ts'
import type { PktReader } from '../git/wire/pkt_lines.ts'
import type { PushCommand, PushRequest } from '../git/wire/push_request.ts'
import type { Actor } from '../http/gate.ts'
import type { Instance } from '../instance.ts'
import { judge, type Judged, type PushContext } from './push_policy.ts'

const CHANGED = 'the rules of this project changed meanwhile; push again'

type Entry = GitEntry & { readonly actor: Actor }

/** One push under way. */
export interface Push {
  readonly instance: Instance
  readonly entry: Entry
  /** The caller and the project as they are now. Throws GitRefusal where the push would not be let in any more. */
  readonly enterAgain: () => Promise<Entry>
  readonly request: PushRequest
  /** Stands where the pack begins. */
  readonly reader: PktReader
  readonly maxBytes: number
  /** Told beside whatever becomes of the push. */
  readonly remark: string
}

export type Judgement = ReadonlyMap<PushCommand, Judged>

/** Judges each command of a push by the current rules; the repository may be empty. */
export async function judgeAll(
  { instance, request }: Push,
  entry: Entry,
  isEmpty: boolean,
): Promise<Judgement> {
  const { actor, project } = entry
  const context: PushContext = {
    actor,
    project,
    rules: await pushRules(instance.db, project),
    only: entry.only && (await branchesOpenTo(instance.db, project, actor.id)),
    whileEmpty: isEmpty ? { rule: ruleWhileEmpty(instance.settings) } : undefined,
    membersUrl: `${instance.config.url}/${project.full_path}/-/project_members`,
  }
  return new Map(request.commands.map((command) => [command, judge(command, context)]))
}

/**
 * Why a push that was let in may not land now, undefined when it may: a pack takes its time, and meanwhile rules, the
 * caller's token, role and state, or the project may have changed.
 */
export async function recheckPush(
  push: Push,
  judged: Judgement,
  isEmpty: boolean,
): Promise<string | undefined> {
  try {
    const now = await judgeAll(push, await push.enterAgain(), isEmpty)
    return JSON.stringify([...now.values()]) === JSON.stringify([...judged.values()]) ? undefined : CHANGED
  } catch (error) {
    if (!(error instanceof GitRefusal)) throw error
    return error.message
  }
}
