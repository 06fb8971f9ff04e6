import type { Noteable, Reader } from '../core/conversation/noteable.ts'
import type { Group } from '../core/places/groups.ts'
import type { Project } from '../core/places/projects.ts'
import type { Note } from '../db/schema/conversation.ts'
import type { Epic, Issue, MergeRequest, Snippet } from '../db/schema/planning.ts'
import type { Has } from '../http/gate.ts'

// Records of several kinds, as what is talked about.

/** Columns that every base has. */
export interface Here {
  readonly noteable: Noteable
  readonly reader: Reader
  /** The project around it; an epic has none. */
  readonly home: Project | undefined
  /** The groups around it, from the root down. */
  readonly line: readonly number[]
  /** The note on it that a path goes on to. */
  readonly note?: Note
}

export type InProject = Has<{ project: Project }>
type InGroup = Has<{ group: Group }>

export const inProject = ({ actor, project }: InProject): Pick<Here, 'reader' | 'home' | 'line'> => ({
  reader: { viewer: actor, role: project.role },
  home: project,
  line: project.traversal_ids,
})
export const inGroup = ({ actor, group }: InGroup): Pick<Here, 'reader' | 'home' | 'line'> => ({
  reader: { viewer: actor, role: group.role },
  home: undefined,
  line: group.traversal_ids,
})

/** Columns that most kinds lack. */
export const PLAIN = {
  iid: null,
  project_id: null,
  group_id: null,
  locked: false,
  confidential: false,
} as const

/** An issue, as what is talked about. */
export const ofIssue = ({ discussion_locked, ...row }: Issue): Noteable => ({
  kind: 'issue',
  id: row.id,
  iid: row.iid,
  project_id: row.project_id,
  group_id: null,
  author_id: row.author_id,
  locked: discussion_locked,
  confidential: row.confidential,
})
/** A merge request. */
export const ofMergeRequest = (row: MergeRequest): Noteable => ({
  ...PLAIN,
  kind: 'merge_request',
  id: row.id,
  iid: row.iid,
  project_id: row.project_id,
  author_id: row.author_id,
  locked: row.discussion_locked,
})
/** A snippet. */
export const ofSnippet = ({ id, project_id, author_id }: Snippet): Noteable => ({
  ...PLAIN,
  kind: 'snippet',
  id,
  project_id,
  author_id,
})
/** An epic. */
export const ofEpic = (row: Epic): Noteable => ({
  kind: 'epic',
  id: row.id,
  iid: row.iid,
  project_id: null,
  group_id: row.group_id,
  author_id: row.author_id,
  locked: row.discussion_locked,
  confidential: row.confidential,
})
