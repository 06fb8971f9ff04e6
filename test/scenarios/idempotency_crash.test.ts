/* The server is killed between the effect of a keyed write and the record of its answer, and the write is sent again. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { createTestDatabase } from '../support/database.ts'
import { killServer, openPlace, until, type Place, type Running } from '../support/program.ts'

const TOKEN = 'a-token-that-outlives-every-crash'
/** Stops the record of an answer where the lock is held. */
const STOP = `
  create function stop_answer() returns trigger language plpgsql as $$
    begin if new.answer is not null then perform pg_advisory_xact_lock(281281); end if; return new; end $$;
  create trigger stop_answer before insert or update on idempotency_keys for each row execute function stop_answer()`

let place: Place
let database: Awaited<ReturnType<typeof createTestDatabase>>
let client: pg.Client
before(async () => {
  database = await createTestDatabase()
  place = await openPlace({ GUILDHALL_ROOT_TOKEN: TOKEN, LOG_LEVEL: 'warn', DATABASE_URL: database.url })
  client = new pg.Client(database.url)
  await client.connect()
})
after(async () => {
  await place.clear()
  await client.end()
  await database.drop()
})

interface Shown {
  readonly id: number
  readonly iid: number
  readonly state: string
}
interface Titled {
  readonly title?: string
  readonly body?: string
}

async function call<Body = Shown>(
  server: Running,
  wanted: string,
  body?: object,
  key?: string,
): Promise<[number, Body]> {
  const [method = '', path = ''] = wanted.split(' ')
  const answer = await fetch(server.api + path, {
    method,
    headers: {
      'private-token': TOKEN,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return [answer.status, (await answer.json()) as Body]
}

const held = async (): Promise<number> =>
  (await client.query(`select from pg_locks where locktype = 'advisory' and objid = 281281 and not granted`))
    .rowCount ?? 0

test('a write that a kill cut off before its answer was kept is never done twice', async () => {
  let server = await place.serve()
  const [, project] = await call(server, 'POST /projects', { name: 'crash', initialize_with_readme: true })
  const below = `/projects/${project.id}`
  const commit = (branch: string, path: string): object => ({
    branch,
    start_branch: 'main',
    commit_message: path,
    actions: [{ action: 'create', file_path: path, content: path }],
  })
  await call(server, `POST ${below}/repository/commits`, commit('topic', 'topic'))
  const [, request] = await call(server, `POST ${below}/merge_requests`, {
    source_branch: 'topic',
    target_branch: 'main',
    title: 'topic',
  })
  const [, issue] = await call(server, `POST ${below}/issues`, { title: 'issue' })
  const writes: [string, string, object?][] = [
    ['label', `POST ${below}/labels`, { name: 'label', color: '#ffffff' }],
    ['note', `POST ${below}/issues/${issue.iid}/notes`, { body: 'note' }],
    ['commit', `POST ${below}/repository/commits`, commit('other', 'other')],
    ['merge', `PUT ${below}/merge_requests/${request.iid}/merge`],
  ]
  await client.query(`${STOP}; select pg_advisory_lock(281281)`)
  const cut = writes.map(([key, wanted, body]) => call(server, wanted, body, key).catch(() => 'cut'))
  await until('every answer waits to be kept', async () => (await held()) === writes.length)
  await killServer(place, server)
  assert.deepEqual(await Promise.all(cut), ['cut', 'cut', 'cut', 'cut'])
  // The last statement of the killed server must not run after it.
  await client.query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 281281
    and not granted`)
  await until('the database gives the killed sessions up', async () => (await held()) === 0)
  await client.query(`select pg_advisory_unlock(281281); drop trigger stop_answer on idempotency_keys`)

  server = await place.serve()
  await client.query('update idempotency_keys set held_until = now() where answer is null')
  const statuses = async (): Promise<number[]> => {
    const all: number[] = []
    for (const [key, wanted, body] of writes) all.push((await call(server, wanted, body, key))[0])
    return all
  }
  // The label was undone with its key; the commit is found by its key; of the others the first may have taken effect.
  assert.deepEqual(await statuses(), [201, 409, 201, 409])
  assert.deepEqual(await statuses(), [201, 409, 201, 409])
  const [, labels] = await call<Titled[]>(server, `GET ${below}/labels`)
  const [, notes] = await call<Titled[]>(server, `GET ${below}/issues/${issue.iid}/notes`)
  const [, commits] = await call<Titled[]>(server, `GET ${below}/repository/commits?ref_name=other`)
  const [, log] = await call<Titled[]>(server, `GET ${below}/repository/commits?ref_name=main`)
  const [, merged] = await call(server, `GET ${below}/merge_requests/${request.iid}`)
  assert.equal(labels.length, 1)
  assert.equal(notes.filter((note) => note.body === 'note').length, 1)
  assert.equal(commits.filter((one) => one.title === 'other').length, 1)
  assert.equal(log.filter((one) => one.title?.startsWith('Merge branch')).length, 1)
  assert.equal(merged.state, 'merged')
  await server.stop()
})
