import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../support/makers.ts'
import { rowsOf } from '../support/rows.ts'
import { sharedWorld } from '../support/stand.ts'

// Lists of several pages, read to their end and again, while nothing is written and between writes: what stands on a page
// does not depend on what was read before.

const COUNT = 730
let member: Someone
let lists: { readonly name: string; readonly path: string; readonly rows: string }[]

const at = sharedWorld(
  async ({ make }) => {
    const group = await make.group({ path: 'fleet', visibility: 'public' })
    const project = await make.project({ group, path: 'flagship', visibility: 'public' })
    member = await make.memberOf('planner', { project })
    await make.sql(`
      insert into namespaces (kind, parent_id, name, path, full_name, full_path, traversal_ids, visibility)
        select 'group', ${group.id}, 'Ship ' || n * 7919 % ${COUNT}, 's' || n, 'x', 'fleet/s' || n, '{}', 'public'
          from generate_series(1, ${COUNT}) n;
      update namespaces set traversal_ids = array[${group.id}, id] where parent_id = ${group.id};
      insert into projects (namespace_id, name, path, full_path, visibility, star_count)
        select ${group.id}, 'Boat ' || n, 'b' || n, 'fleet/b' || n, (array['private', 'internal', 'public'])[1 + n % 3], n % 9
          from generate_series(1, ${COUNT * 2}) n;
      insert into issues (project_id, iid, title, weight, confidential, created_at)
        select ${project.id}, n, 'Leak ' || n * 7919 % ${COUNT}, n % 11, n % 2 = 0, now() - n * interval '1 minute'
          from generate_series(1, ${COUNT}) n;
      insert into merge_requests (iid, project_id, source_project_id, author_id, title, source_branch, target_branch, created_at)
        select n, ${project.id}, ${project.id}, ${member.id}, 'Plug ' || n, 'b' || n, 'main', now() - n * interval '1 minute'
          from generate_series(1, ${COUNT}) n;`)
    const inGroup = `namespace_id = ${group.id} and visibility <> 'private'`
    lists = [
      {
        name: 'groups',
        path: `/groups/${group.id}/subgroups?all_available=true&order_by=name`,
        rows: `select id from namespaces where parent_id = ${group.id} and visibility <> 'private' order by name, id`,
      },
      {
        name: 'groups below',
        path: `/groups/${group.id}/descendant_groups?all_available=true&order_by=path&sort=desc`,
        rows: `select id from namespaces where parent_id = ${group.id} and visibility <> 'private' order by path desc, id`,
      },
      {
        name: 'projects',
        path: `/groups/${group.id}/projects?order_by=star_count`,
        rows: `select id from projects where ${inGroup} order by star_count desc, id desc`,
      },
      {
        name: 'projects by a word',
        path: '/projects?search=boat&order_by=name&sort=asc',
        rows: `select id from projects where ${inGroup} and name like 'Boat%' order by name, id`,
      },
      {
        name: 'issues',
        path: `/projects/${project.id}/issues?order_by=weight`,
        rows: `select id from issues where project_id = ${project.id} order by weight desc nulls last, id desc`,
      },
      {
        name: 'issues by a word',
        path: `/projects/${project.id}/issues?search=leak&order_by=title&sort=asc`,
        rows: `select id from issues where project_id = ${project.id} and title like 'Leak%' order by lower(title), id`,
      },
      {
        name: 'merge requests',
        path: `/projects/${project.id}/merge_requests?order_by=title&sort=asc`,
        rows: `select id from merge_requests where project_id = ${project.id} order by lower(title), id`,
      },
    ]
  },
  { fresh: true },
)

interface Read {
  readonly ids: readonly number[]
  readonly total: number
}
async function page(path: string, number: number): Promise<Read> {
  const answer = await at().get(`${path}&per_page=100&page=${number}`, member)
  assert.equal(answer.status, 200, answer.text)
  const ids = (answer.body as { id: number }[]).map(({ id }) => id)
  return { ids, total: Number(answer.headers['x-total']) }
}
async function expected(rows: string): Promise<number[]> {
  const found = await rowsOf<{ id: string | number }>(at(), rows)
  return found.map(({ id }) => Number(id))
}

test('a list read to its end, twice, is all there is, once and in order', async () => {
  for (const { name, path, rows } of lists) {
    const all = await expected(rows)
    assert.ok(all.length >= COUNT, name)
    for (let round = 0; round < 2; round++)
      for (let number = 1; number <= Math.ceil(all.length / 100) + 1; number++)
        assert.deepEqual(
          await page(path, number),
          { ids: all.slice((number - 1) * 100, number * 100), total: all.length },
          `${name}, page ${number}`,
        )
  }
})

test('a write between two pages is on the next one', async () => {
  for (const { name, path, rows } of lists) {
    for (let round = 0; round < 4; round++) await page(path, 3)
    const table = /from (\w+)/.exec(rows)?.[1] ?? assert.fail()
    const [first, second] = await expected(rows)
    await at().make.sql(
      table === 'namespaces' || table === 'projects'
        ? `update ${table} set visibility = 'private' where id = ${first}`
        : `delete from ${table} where id = ${first}`,
    )
    const left = await expected(rows)
    assert.equal(left[0], second)
    for (let round = 0; round < 4; round++)
      assert.deepEqual(await page(path, 1), { ids: left.slice(0, 100), total: left.length }, name)
  }
})
