import { sql, type RawBuilder } from 'kysely'
import { isOpenTo } from '../sight/features.ts'
import { seesIssue } from '../sight/noteables.ts'
import { ROLES, homeOf, openTo, roleInProject, heldBy, type Viewer } from '../sight/roles.ts'

// Noteables: records with discussions, and which threads one caller sees.

export type NoteableKind = 'issue' | 'merge_request' | 'snippet' | 'epic' | 'commit'

/** The columns of a noteable that discussions need. */
export interface Noteable {
  /** 0 for a commit of which nobody has said anything yet. */
  readonly id: number
  readonly kind: NoteableKind
  /** Of an epic too; null for snippets and commits. */
  readonly iid: number | null
  readonly project_id: number | null
  readonly group_id: number | null
  readonly author_id: number | null
  /** Whether only members may say something. */
  readonly locked: boolean
  readonly confidential: boolean
  /** Of a commit. */
  readonly sha?: string
}

/** A caller in front of a noteable, with the role on its project or group. */
export interface Reader {
  readonly viewer: Viewer | null
  readonly role: number
}

/** Internal notes are for those from Reporter on. */
export const readsInternal = ({ viewer, role }: Reader): boolean =>
  viewer?.admin === true || role >= ROLES.reporter

/** Which statements a reader needs: plain, for a family of them. */
export interface Sight {
  readonly internal: boolean
  readonly everything: boolean
}
export const sightOf = (reader: Reader): Sight => ({
  internal: readsInternal(reader),
  everything: reader.viewer?.admin === true,
})

export interface SightValues {
  readonly user_id: number | null
  readonly open_to: readonly string[]
}
export const sightValues = ({ viewer }: Reader): SightValues => ({
  user_id: viewer?.id ?? null,
  open_to: openTo(viewer),
})

type Slots = { readonly [Name in keyof SightValues]: RawBuilder<SightValues[Name]> }

/** As part of a statement: whether the reader sees the thread or note under that name. */
export function seesThread(p: Slots, sight: Sight, name: 'd' | 'n'): RawBuilder<boolean> {
  const row = sql.raw(name)
  const open = sight.internal ? sql`true` : sql`not ${row}.internal`
  if (sight.everything) return sql`${open}`
  const held = roleInProject(heldBy(p.user_id), sql`p.id`, sql`home.traversal_ids`)
  const role = sql`held.role`
  // A mention is shown to callers who see the mentioned issue, which may have become confidential since.
  const named = sql`(${row}.mentions_noteable_id is null
    or exists (select from issues i
                where i.id = ${row}.mentions_noteable_id and ${isOpenTo('issues', role)} and ${seesIssue(p.user_id, role)})
    or exists (select from merge_requests m
                where m.id = ${row}.mentions_noteable_id and ${isOpenTo('merge_requests', role)}))`
  return sql`(${open} and (${row}.mentions_project_id is null or exists (
    select from projects p, ${homeOf} home, lateral (select coalesce(${held}, 0) as role offset 0) held
     where p.id = ${row}.mentions_project_id
       and (not ${row}.mentions_code or p.repository_access_level <> 'disabled')
       and (p.visibility = any(${p.open_to}) and (p.repository_access_level = 'enabled' or not ${row}.mentions_code)
            or ${role} >= case when ${row}.mentions_code then ${sql.lit(ROLES.reporter)} else ${sql.lit(ROLES.guest)} end)
       and ${named})))`
}
