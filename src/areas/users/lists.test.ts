import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { COUNTED } from '../../db/pages.ts'

// Users without projects, where they are most and where they are few.

const PEOPLE = 12_000
let admin: Someone
let project: number
const world = sharedWorld(
  async ({ make }) => {
    admin = await make.admin()
    project = (await make.project()).id
    await make.sql(`
    insert into users (username, name, email, created_at)
      select 'n' || n, 'N ' || n * 7919 % 1000, 'n' || n || '@example.com', timestamptz '2026-01-01' + n * 7919 % 1000 * interval '1 day'
        from generate_series(1, ${PEOPLE}) n`)
  },
  { fresh: true },
)

async function agrees(): Promise<void> {
  for (const order of ['id', 'name', 'created_at'])
    for (const sort of ['asc', 'desc']) {
      const expected = await rowsOf<{ id: number }>(
        world(),
        `select u.id from users u
          where u.id not in (select user_id from members where project_id is not null)
            and u.id not in (select n.owner_id from projects p join namespaces n on n.id = p.namespace_id where n.owner_id is not null)
          order by u.${order} ${sort}, u.id ${sort}`,
      )
      for (const page of [1, 2, 300]) {
        const query = `/users?without_projects=true&order_by=${order}&sort=${sort}&page=${page}`
        const answer = await world().get(query, admin)
        const total = expected.length > COUNTED ? undefined : String(expected.length)
        assert.equal(answer.headers['x-total'], total, query)
        assert.deepEqual(
          (answer.body as { id: number }[]).map(({ id }) => id),
          expected.slice((page - 1) * 20, page * 20).map(({ id }) => id),
          query,
        )
      }
    }
}

test('those without projects are the ones that a plain look finds, where they are many and where they are few', async () => {
  await agrees()
  await world().make.sql(`
    insert into members (user_id, project_id, access_level)
      select id, ${project}, 30 from users where username ~ '^n' and id % 300 > 0`)
  await world().opened.client.pool.query('vacuum (analyze) users, members')
  await agrees()
})
