import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Repository } from '../../git/repository.ts'
import { Tracer, type Position, type Version } from './note_positions.ts'

// Diff notes follow a merge request from version to version.

interface Standing {
  readonly discussion_id: number
  readonly position: Position
}
const standing = statement(
  (p: Slots<{ id: number; version: string }>) => sql<Standing>`
    select distinct discussion_id, diff_position as position from notes
     where noteable_id = ${p.id} and type = 'DiffNote' and system_action is null
       and diff_position @> ${p.version}::jsonb`,
)

/** New positions of a version's threads in the next version. */
export interface Moves {
  readonly moved: readonly {
    readonly discussion_id: number
    readonly from: Position
    readonly to: Position
  }[]
  readonly outdated: readonly Standing[]
}

/** Finds the threads on one version of a merge request, and where they stand in the next. Reads git; writes nothing. */
export async function traceThreads(
  { db, repository }: { readonly db: Db; readonly repository: Repository },
  id: number,
  [from, to]: readonly [Version, Version],
): Promise<Moves> {
  const { base_sha, start_sha, head_sha } = from
  const version = JSON.stringify({ base_sha, start_sha, head_sha })
  const found = await db.rows(standing, { id, version })
  const tracer = found.length === 0 ? undefined : await Tracer.between(repository, from, to)
  if (tracer === undefined) return { moved: [], outdated: [] }
  const traced = found.map((each) => ({ ...each, to: tracer.trace(each.position) }))
  return {
    moved: traced.flatMap(({ discussion_id, position, to }) =>
      typeof to === 'string' ? [] : [{ discussion_id, from: position, to }],
    ),
    outdated: traced.filter(({ to }) => to === 'outdated'),
  }
}

const move = statement(
  (p: Slots<{ moved: string }>) => sql`
    update notes n set diff_position = m."to", original_position = coalesce(n.original_position, n.diff_position)
      from jsonb_to_recordset(${p.moved}::jsonb) as m (discussion_id bigint, "from" jsonb, "to" jsonb)
     where n.discussion_id = m.discussion_id and n.diff_position = m."from"`,
)
const outdate = statement(
  (p: Slots<{ id: number; author_id: number | null; outdated: string }>) => sql`
    insert into notes (discussion_id, noteable_id, author_id, type, body, internal, system_action, diff_position)
    select d.id, d.noteable_id, ${p.author_id}, 'DiffNote',
           case o.position->>'position_type' when 'text' then 'changed this line in version '
                                             else 'changed this file in version ' end
             || (select count(*) from merge_request_diffs v where v.merge_request_id = ${p.id}) || ' of the diff',
           d.internal, 'outdated', o.position
      from jsonb_to_recordset(${p.outdated}::jsonb) as o (discussion_id bigint, position jsonb)
      join discussions d on d.id = o.discussion_id and d.noteable_id = ${p.id}`,
)
const settle = statement(
  (p: Slots<{ id: number; user_id: number | null; threads: readonly number[] }>) => sql`
    update notes n set resolved_at = clock_timestamp(), resolved_by_id = ${p.user_id}
      from merge_requests m join projects p on p.id = m.project_id
     where m.id = ${p.id} and (p.settings->>'resolve_outdated_diff_discussions')::boolean
       and n.discussion_id = any(${p.threads}::bigint[]) and n.type is not null and n.system_action is null
       and n.resolved_at is null`,
)

/** Writes them down, with a sentence in each outdated thread. Call inside the transaction that writes the new version. */
export async function moveThreads(
  db: Db,
  { id, user_id }: { readonly id: number; readonly user_id: number | null },
  { moved, outdated }: Moves,
): Promise<void> {
  if (moved.length > 0) await db.run(move, { moved: JSON.stringify(moved) })
  if (outdated.length === 0) return
  await db.run(outdate, { id, author_id: user_id, outdated: JSON.stringify(outdated) })
  await db.run(settle, { id, user_id, threads: outdated.map(({ discussion_id }) => discussion_id) })
}
