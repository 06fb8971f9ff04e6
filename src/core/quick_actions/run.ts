import type { Db } from '../../db/db.ts'
import type { Issue, MergeRequest } from '../../db/schema/planning.ts'
import type { Noteable } from '../conversation/noteable.ts'
import type { IssueChange } from '../planning/issue_changes.ts'
import type { MergeRequestChange } from '../merge_requests/changes.ts'
import type { Project } from '../places/projects.ts'
import type { Assigned, Commanded, CommandedRow } from './rows.ts'
import type { Viewer } from '../sight/roles.ts'
import type { TargetBranches } from '../merge_requests/target_branches.ts'

/** Where the record is: its project, which an epic has not, and the groups around it, from the root down. */
export interface Place {
  readonly project: Project | undefined
  readonly line: readonly number[]
  /** The caller's role there. */
  readonly role: number
}

type Change = IssueChange & MergeRequestChange
type Changing = { -readonly [Name in keyof Change]: Change[Name] }

/** One text's commands on their way. */
export interface Run {
  readonly db: Db
  readonly actor: Viewer & { readonly username: string }
  readonly place: Place
  readonly now: Date
  readonly about: Noteable & { readonly kind: Commanded }
  /** The record as it was before the first command. */
  readonly row: CommandedRow
  /** The branches that the text names, where it is about a merge request. */
  readonly branches?: TargetBranches | undefined
  /** Set while the record is made. */
  readonly fresh: boolean
  /** Whether the caller may change its words and its state, and whether they say what it is part of. */
  readonly may: { readonly change: boolean; readonly plan: boolean }
  /** The new values. */
  readonly change: Changing
  /** The time it should take and took. */
  readonly times: { estimate: number; spent: number }
  /** As the wire tells of it. */
  readonly changes: Record<string, unknown>
  /** Signs to put behind the text. */
  suffix: string
}
/** The effect; or none, with a reason where there is more to say. */
export type Told = string | { readonly why: string } | undefined
export type Act = (run: Run, argument: string) => Told | Promise<Told>

/** For those who say what it is part of. */
export const planned =
  (act: Act): Act =>
  (run, argument) =>
    run.may.plan ? act(run, argument) : undefined
/** A run about something in a project. */
export type ProjectRun = Run & {
  readonly about: { readonly kind: Assigned }
  readonly place: { readonly project: Project }
}
const isInProject = (run: Run): run is ProjectRun =>
  run.about.kind !== 'epic' && run.place.project !== undefined
export const inProject =
  (act: (run: ProjectRun, argument: string) => Told | Promise<Told>): Act =>
  (run, argument) =>
    isInProject(run) ? act(run, argument) : undefined

/** A run about an issue. */
export type IssueRun = ProjectRun & { readonly about: { readonly kind: 'issue' }; readonly row: Issue }
const isOfIssue = (run: Run): run is IssueRun => run.about.kind === 'issue' && isInProject(run)
export const ofIssues =
  (act: (run: IssueRun, argument: string) => Told | Promise<Told>): Act =>
  (run, argument) =>
    isOfIssue(run) ? act(run, argument) : undefined

/** A run about a merge request. */
export type MergeRequestRun = ProjectRun & {
  readonly about: { readonly kind: 'merge_request' }
  readonly row: MergeRequest
}
const isOfMergeRequest = (run: Run): run is MergeRequestRun =>
  run.about.kind === 'merge_request' && isInProject(run)
export const ofMergeRequests =
  (act: (run: MergeRequestRun, argument: string) => Told | Promise<Told>): Act =>
  (run, argument) =>
    isOfMergeRequest(run) ? act(run, argument) : undefined

/** For what is there already: nothing is said of what is only being made. */
export const made =
  (act: Act): Act =>
  (run, argument) =>
    run.fresh ? undefined : act(run, argument)
