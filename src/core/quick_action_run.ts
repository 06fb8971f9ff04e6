import type { Db } from '../db/client.ts'
import type { Issue, MergeRequest } from '../db/schema_planning.ts'
import type { Noteable } from './conversation.ts'
import type { IssueChange } from './issue_changes.ts'
import type { Project } from './projects.ts'
import type { Commanded } from './quick_action_rows.ts'

/** One text's commands on their way. */
export interface Run {
  readonly db: Db
  readonly actor: { readonly id: number; readonly username: string; readonly admin: boolean }
  readonly project: Project
  readonly now: Date
  readonly about: Noteable & { readonly kind: Commanded }
  /** The record as it was before the first command. */
  readonly row: Issue | MergeRequest
  /** Whether the caller may change its words and its state, and whether they say what it is part of. */
  readonly may: { readonly change: boolean; readonly plan: boolean }
  /** What it is to become. */
  readonly change: { -readonly [K in keyof IssueChange]: IssueChange[K] }
  /** The time it should take and took. */
  readonly times: { estimate: number; spent: number }
  /** As the wire tells of it. */
  readonly changes: Record<string, unknown>
  /** Signs to put behind the text. */
  suffix: string
}
export type Told = string | undefined
export type Act = (run: Run, argument: string) => Told | Promise<Told>

/** For those who say what it is part of. */
export const planned =
  (act: Act): Act =>
  (run, argument) =>
    run.may.plan ? act(run, argument) : undefined
export const ofIssues =
  (act: Act): Act =>
  (run, argument) =>
    run.about.kind === 'issue' ? act(run, argument) : undefined
