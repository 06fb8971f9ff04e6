import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Someone } from '../support/makers.ts'
import { rowsOf } from '../support/rows.ts'
import { contents, makeLabel, sharedWorld } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

let owner: Someone
let second: Someone
let group: { id: number; full_path: string }

const world = sharedWorld(async ({ make }) => {
  group = await make.group()
  owner = await make.memberOf('owner', { group })
  second = await make.memberOf('maintainer', { group })
})

const failed = { message: '412 Precondition Failed' }
interface Edited {
  readonly path: string
  readonly etag: string
}
async function label(name: string): Promise<Edited> {
  const { id } = await makeLabel(world(), group, owner, name)
  const path = `/groups/${group.id}/labels/${id}`
  return { path, etag: await tagOf(path) }
}
const tagOf = async (path: string, as = owner): Promise<string> =>
  String((await world().get(path, as)).headers['etag'])
const put = (path: string, tag: string, body: object, as = owner): Promise<Answered> =>
  world().call('PUT', path, { as, body, headers: { 'if-match': tag } })

/** Resolves when a connection of this database waits for a lock. */
async function waits(pool: pg.Pool): Promise<void> {
  for (let i = 0; i < 2_000; i++) {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if (rowCount === 1) return
    await sleep(5)
  }
  throw new Error('nobody waits')
}

suite('writes with If-Match', () => {
  test('GEN-37: the tag of the record as it stands lets a write through', async () => {
    const { path, etag } = await label('fresh')
    assert.equal((await put(path, etag, { color: '#000001' })).status, 200)
    assert.equal((await put(path, (await tagOf(path)).slice(2), { color: '#000002' })).status, 200)
    assert.equal((await put(path, `"other", ${await tagOf(path)}`, { color: '#000003' })).status, 200)
    assert.equal((await put(path, '*', { color: '#000004' })).status, 200)
  })

  // The record changed since it was read; what the other did must not be written over.
  test('GEN-37: a stale tag is 412 and writes nothing', async () => {
    const { path, etag } = await label('stale')
    assert.equal((await put(path, etag, { description: 'mine' })).status, 200)
    const before = await contents(world())
    const late = await put(path, etag, { description: 'yours' }, second)
    assert.deepEqual([late.status, late.body], [412, failed])
    const gone = await world().call('DELETE', path, { as: owner, headers: { 'if-match': etag } })
    assert.deepEqual([gone.status, gone.body], [412, failed])
    assert.equal(await contents(world()), before)
  })

  // Twenty at once read the same record and each believes to be the only one.
  test('GEN-37: of editors at once one gets through, by whatever address', async () => {
    const { path, etag } = await label('crowd')
    const byTitle = `/groups/${encodeURIComponent(group.full_path)}/labels/crowd`
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        put(i % 2 === 0 ? path : byTitle, etag, { description: `editor ${i}` }, i % 3 === 0 ? owner : second),
      ),
    )
    const through = answers.filter(({ status }) => status === 200)
    assert.equal(through.length, 1)
    for (const { status, body } of answers)
      if (status !== 200) assert.deepEqual([status, body], [412, failed])
    const kept = await rowsOf(world(), `select description from labels where title = 'crowd'`)
    assert.deepEqual(kept, [
      { description: (through[0]?.body as { description?: string } | undefined)?.description },
    ])
  })
  // The same race, held still at its worst moment: one has looked, and another, who names no tag, writes before it does.
  test('GEN-37: a write that names a tag never goes over one that names none', async () => {
    const { path, etag } = await label('held')
    const { pool } = world().opened.client
    const other = await pool.connect()
    await other.query('begin')
    await other.query(`update labels set description = 'theirs' where title = 'held'`)
    const mine = put(path, etag, { description: 'mine' })
    await waits(pool)
    await other.query('commit')
    other.release()
    const answer = await mine
    assert.deepEqual([answer.status, answer.body], [412, failed])
    const kept = await rowsOf(world(), `select description from labels where title = 'held'`)
    assert.deepEqual(kept, [{ description: 'theirs' }])
  })
  test('GEN-37: nor does one that names a moment', async () => {
    const { path } = await label('dated')
    const { pool } = world().opened.client
    const other = await pool.connect()
    await other.query('begin')
    await other.query(`update labels set description = 'theirs' where title = 'dated'`)
    const headers = { 'if-unmodified-since': new Date(Date.now() + 60_000).toUTCString() }
    const mine = world().call('PUT', path, { as: owner, body: { description: 'mine' }, headers })
    await waits(pool)
    await other.query('commit')
    other.release()
    assert.equal((await mine).status, 412)
  })
  test('GEN-37: of a writer and a remover at once one gets through', async () => {
    const { path, etag } = await label('fought over')
    const answers = await Promise.all([
      put(path, etag, { description: 'kept' }),
      world().call('DELETE', path, { as: second, headers: { 'if-match': etag } }),
    ])
    const statuses = answers.map(({ status }) => status)
    assert.ok(statuses.includes(200) !== statuses.includes(204), statuses.join())
    assert.ok(statuses.includes(412) || statuses.includes(404), statuses.join())
  })

  // A path may take part of its record from the query: the tag is that of the same query.
  test('GEN-37: the parameters that choose the record choose it for the tag too', async () => {
    const admin = await world().make.admin()
    const path = '/application/plan_limits'
    const etag = await tagOf(`${path}?plan_name=default`, admin)
    assert.equal((await put(path, etag, { plan_name: 'default', dotenv_variables: 21 }, admin)).status, 200)
    assert.equal((await put(path, etag, { plan_name: 'default', dotenv_variables: 22 }, admin)).status, 412)
    const kept = await rowsOf(world(), `select limits from plan_limits where plan_name = 'default'`)
    assert.deepEqual(kept, [{ limits: { dotenv_variables: 21 } }])
  })

  // A condition must not tell more than the record would.
  test('GEN-37: who may not write, or not see, hears that first', async () => {
    const { path, etag } = await label('guarded')
    const guest = await world().make.memberOf('guest', { group })
    const stranger = await world().make.user()
    for (const tag of [etag, '"stale"', '*']) {
      assert.deepEqual((await put(path, tag, { color: 'red' }, guest)).body, { message: '403 Forbidden' })
      assert.deepEqual((await put(path, tag, { color: 'red' }, stranger)).body, {
        message: '404 Group Not Found',
      })
    }
    assert.deepEqual((await put(path, '"stale"', {})).status, 400)
  })
  test('GEN-37: a write without If-Match sends no statement for it', async () => {
    const { path, etag } = await label('plain')
    const plain = await world().statements(() =>
      world().call('PUT', path, { as: owner, body: { color: 'red' } }),
    )
    const conditional = await world().statements(() => put(path, etag, { color: 'blue' }))
    assert.ok(conditional.length > plain.length)
    assert.deepEqual(conditional.filter((name) => !plain.includes(name)).length > 0, true)
  })
})
