import type { Namespace, Project } from '../../src/db/schema/tables.ts'
import { rowOf } from './rows.ts'
import type { World } from './world.ts'

// Noteables as rows: for tests of discussions.

export interface Made {
  readonly id: number
  readonly iid: number
  readonly path: string
}
type Of = Pick<Project, 'id'>
type Values = Readonly<Record<string, unknown>>

const insert = async (world: World, table: string, values: Values): Promise<number> => {
  const names = Object.keys(values)
  const slots = names.map((_, i) => `$${i + 1}`).join(', ')
  const text = `insert into ${table} (${names.join(', ')}) values (${slots}) returning id`
  return (await rowOf<{ id: number }>(world, text, Object.values(values))).id
}
const nextIid = async (world: World, table: string, parent: string, id: number): Promise<number> =>
  (
    await rowOf<{ iid: number }>(
      world,
      `select coalesce(max(iid), 0)::int + 1 as iid from ${table} where ${parent} = $1`,
      [id],
    )
  ).iid

/** An issue of the project. */
export async function makeIssue(world: World, { id: project_id }: Of, values: Values = {}): Promise<Made> {
  const iid = await nextIid(world, 'issues', 'project_id', project_id)
  const id = await insert(world, 'issues', { project_id, iid, title: `Issue ${iid}`, ...values })
  return { id, iid, path: `/projects/${project_id}/issues/${iid}` }
}

/** A merge request, with the difference from `base` to `head` where it has one. */
export async function makeMergeRequest(
  world: World,
  { id: project_id }: Of,
  { diff, ...values }: Values & { diff?: { base: string; head: string } } = {},
): Promise<Made> {
  const iid = await nextIid(world, 'merge_requests', 'project_id', project_id)
  const id = await insert(world, 'merge_requests', {
    project_id,
    iid,
    title: `Change ${iid}`,
    source_project_id: project_id,
    source_branch: `topic-${iid}`,
    target_branch: 'main',
    ...values,
  })
  if (diff !== undefined)
    await insert(world, 'merge_request_diffs', {
      merge_request_id: id,
      base_sha: diff.base,
      start_sha: diff.base,
      head_sha: diff.head,
    })
  return { id, iid, path: `/projects/${project_id}/merge_requests/${iid}` }
}

export async function makeSnippet(world: World, { id: project_id }: Of, values: Values = {}): Promise<Made> {
  const id = await insert(world, 'snippets', {
    project_id,
    title: 'Snippet',
    visibility: 'public',
    ...values,
  })
  return { id, iid: id, path: `/projects/${project_id}/snippets/${id}` }
}

export async function makeEpic(
  world: World,
  { id: group_id }: Pick<Namespace, 'id'>,
  values: Values = {},
): Promise<Made> {
  const iid = await nextIid(world, 'epics', 'group_id', group_id)
  const id = await insert(world, 'epics', { group_id, iid, title: `Epic ${iid}`, ...values })
  return { id, iid, path: `/groups/${group_id}/epics/${id}` }
}
