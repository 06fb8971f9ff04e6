import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watch } from '../../../test/support/plans.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Namespace } from '../../db/schema.ts'

// What lists of groups, namespaces and projects read of the database, in blocks, does not grow with the instance.

let vast: Namespace
let home: number
let few: Someone
let top: Someone
const world = sharedWorld(
  async ({ make }) => {
    vast = await make.group({ visibility: 'public' })
    top = await make.memberOf('developer', { group: vast })
    few = await make.memberOf('guest', { group: await make.group() })
    const other = await make.user()
    home = other.id
    // More than are fetched and sorted, and none of them to be seen.
    await make.sql(`insert into projects (namespace_id, name, path, full_path)
    select id, 'Project ' || n, 'p' || n, full_path || '/p' || n
      from namespaces, generate_series(1, 2500) n where owner_id = ${other.id}`)
  },
  { fresh: true },
)

/** Of each kind as many more: half of the groups below the vast one, and a project in each; some in a person's hands. */
async function grow(count: number): Promise<void> {
  const pool = world().opened.client.pool
  await pool.query(`
    set session_replication_role = replica;
    create temporary table fresh as
      select nextval(pg_get_serial_sequence('namespaces', 'id')) as id, n from generate_series(1, ${count}) n;
    insert into namespaces (id, kind, parent_id, name, path, full_name, full_path, traversal_ids, visibility)
    overriding system value
      select id, 'group', case when n % 2 = 0 then ${vast.id} end, 'Group ' || md5(id::text), 'at' || id, 'x',
             case when n % 2 = 0 then '${vast.full_path}/' else '' end || 'at' || id,
             case when n % 2 = 0 then array[${vast.id}] else '{}' end || id,
             (array['private', 'internal', 'public'])[1 + n % 3] from fresh;
    insert into projects (namespace_id, name, path, full_path, visibility)
      select id, 'Project ' || md5(id::text), 'at', 'at' || id, (array['private', 'internal', 'public'])[1 + n % 3] from fresh;
    drop table fresh;
    set session_replication_role = origin;`)
  // Many rows are counted without a look at them once they are known to be seen by all.
  await pool.query('vacuum analyze')
}

const COUNTING = 400
const PAGES: readonly (readonly [who: 'top' | 'few', page: () => string])[] = [
  ['top', () => '/groups?'],
  ['top', () => '/groups?order_by=path'],
  ['top', () => '/groups?min_access_level=10'],
  ['top', () => '/groups?top_level_only=true'],
  ['top', () => `/groups/${vast.id}/subgroups?`],
  ['top', () => `/groups/${vast.id}/descendant_groups?`],
  ['few', () => '/groups?all_available=true&search=group&order_by=similarity'],
  ['few', () => `/groups/${vast.id}/descendant_groups?all_available=true&search=group&order_by=similarity`],
  ['top', () => '/projects?page=50'],
  ['few', () => `/users/${home}/projects?search=project&order_by=similarity`],
]

async function blocksOf(who: (typeof PAGES)[number][0], page: string): Promise<number> {
  const as = { top, few }[who]
  const ask = async (): Promise<void> => assert.equal((await world().get(page, as)).status, 200)
  const plans = await watch(world().opened.client.pool, ask)
  assert.ok(plans.length > 0)
  return plans.reduce((sum, { blocks }) => sum + blocks, 0)
}

test('a page reads no more of the database when there is five times as much', async (t) => {
  await grow(5_000)
  const before = new Map<string, number>()
  for (const [who, page] of PAGES) before.set(`${who} ${page()}`, await blocksOf(who, page()))
  await grow(20_000)
  for (const [who, page] of PAGES)
    await t.test(`${who} ${page()}`, async () => {
      const [few, many] = [before.get(`${who} ${page()}`) ?? 0, await blocksOf(who, page())]
      // As far as a deep page reaches, and to ten thousand, all is read.
      assert.ok(many < 2 * few + COUNTING, `${few} blocks, then ${many}`)
    })
})
