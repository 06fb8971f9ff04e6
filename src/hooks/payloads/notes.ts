import { sql } from 'kysely'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Note } from '../../db/schema/conversation.ts'
import type { Snippet } from '../../db/schema/planning.ts'
import { statement, type Slots } from '../../db/statement.ts'
import {
  commitPayload,
  labelPayloads,
  projectPayload,
  repositoryPayload,
  userPayload,
  type EventRow,
  type Payload,
  type ProjectPayload,
  type Site,
} from './common.ts'
import { findIssueRow, issueAttributes } from './issues.ts'
import { findMergeRequestRow, mergeRequestAttributes } from './merge_requests.ts'

const note = statement(
  (p: Slots<{ id: number }>) => sql<Note & { discussion_key: string; sha: string | null }>`
    select n.*, d.key as discussion_key, c.sha
      from notes n join discussions d on d.id = n.discussion_id left join noteable_commits c on c.id = n.noteable_id
     where n.id = ${p.id}`,
)
const snippet = statement(
  (p: Slots<{ id: number }>) => sql<Snippet>`select * from snippets where id = ${p.id}`,
)

interface About {
  readonly type: 'Commit' | 'Issue' | 'MergeRequest' | 'Snippet'
  readonly key: 'commit' | 'issue' | 'merge_request' | 'snippet'
  readonly url: string
  readonly record: Payload
}

/** The record of a note or a reaction; undefined when it is gone, or is of a kind without webhooks. */
async function recordAbout(
  site: Site,
  { kind, id, sha }: { kind: string | null; id: number; sha: string | null },
  project: ProjectPayload,
): Promise<About | undefined> {
  if (kind === 'issue') {
    const row = await findIssueRow(site, id)
    if (row === undefined) return undefined
    const record = issueAttributes(row, project)
    const { labels } = await labelPayloads(site, id)
    return { type: 'Issue', key: 'issue', url: String(record['url']), record: { ...record, labels } }
  }
  if (kind === 'merge_request') {
    const row = await findMergeRequestRow(site, id)
    if (row === undefined) return undefined
    const record = await mergeRequestAttributes(site, row, project)
    const { labels } = await labelPayloads(site, id)
    return {
      type: 'MergeRequest',
      key: 'merge_request',
      url: String(record['url']),
      record: { ...record, labels },
    }
  }
  if (kind === 'snippet') {
    const row = await site.db.one(snippet, { id })
    const url = `${project.web_url}/-/snippets/${id}`
    return row && { type: 'Snippet', key: 'snippet', url, record: { ...row, url } }
  }
  if (kind !== 'commit' || sha === null) return undefined
  const record = await commitPayload(site.git.repository(repositoryPath(project.id)), sha, project)
  return record && { type: 'Commit', key: 'commit', url: `${project.web_url}/-/commit/${sha}`, record }
}

/** Something that was said, or changed, under a record. */
export async function noteHook(site: Site, event: EventRow): Promise<Payload | undefined> {
  const row = await site.db.one(note, { id: event.target_id ?? 0 })
  const project = await projectPayload(site, event.project_id)
  if (row === undefined || project === undefined) return undefined
  const place = { kind: event.noteable_kind, id: row.noteable_id, sha: row.sha }
  const about = await recordAbout(site, place, project)
  if (about === undefined) return undefined
  return {
    object_kind: 'note',
    event_type: event.trigger === 'confidential_note_events' ? 'confidential_note' : 'note',
    user: await userPayload(site, event.author_id),
    project_id: project.id,
    project,
    object_attributes: {
      id: row.id,
      note: row.body,
      description: row.body,
      noteable_type: about.type,
      noteable_id: about.type === 'Commit' ? null : row.noteable_id,
      author_id: row.author_id,
      project_id: project.id,
      attachment: null,
      line_code: null,
      commit_id: row.sha ?? row.commit_id,
      discussion_id: row.discussion_key,
      type: row.type,
      system: false,
      st_diff: null,
      position: row.diff_position,
      original_position: row.diff_position,
      change_position: null,
      resolved_at: row.resolved_at,
      resolved_by_id: row.resolved_by_id,
      resolved_by_push: null,
      created_at: row.created_at,
      updated_at: row.updated_at,
      updated_by_id: null,
      url: `${about.url}#note_${row.id}`,
      action: event.action,
    },
    repository: repositoryPayload(project),
    [about.key]: about.record,
  }
}

interface Award {
  readonly id: number
  readonly name: string
  readonly user_id: number
  readonly created_at: string
  readonly updated_at: string
}

/** A reaction that was given or taken back. */
export async function emojiHook(site: Site, event: EventRow): Promise<Payload | undefined> {
  const { award } = event.data as { readonly award: Award }
  const project = await projectPayload(site, event.project_id)
  if (project === undefined) return undefined
  const said =
    event.target_type === 'note' ? await site.db.one(note, { id: event.target_id ?? 0 }) : undefined
  if (event.target_type === 'note' && said === undefined) return undefined
  const place = { kind: event.noteable_kind, id: event.noteable_id ?? 0, sha: said?.sha ?? null }
  const about = await recordAbout(site, place, project)
  if (about === undefined) return undefined
  const key = about.key === 'snippet' ? 'project_snippet' : about.key
  return {
    object_kind: 'emoji',
    event_type: event.action,
    user: await userPayload(site, event.author_id),
    project_id: project.id,
    project,
    object_attributes: {
      user_id: award.user_id,
      created_at: award.created_at,
      updated_at: award.updated_at,
      id: award.id,
      name: award.name,
      awardable_type: said === undefined ? about.type : 'Note',
      awardable_id: event.target_id,
      action: event.action,
      awarded_on_url: said === undefined ? about.url : `${about.url}#note_${said.id}`,
    },
    ...(said && {
      note: {
        id: said.id,
        note: said.body,
        author_id: said.author_id,
        created_at: said.created_at,
        updated_at: said.updated_at,
      },
    }),
    [key]: about.record,
  }
}
