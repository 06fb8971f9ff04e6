import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { pino } from 'pino'
import { Compile } from 'typebox/compile'
import { createApp } from '../../src/app.ts'
import { openInstance, type Opened } from '../../src/open.ts'
import { readConfig } from '../../src/config.ts'
import { serverPid } from '../support/embedded_fixtures.ts'
import { createMakers, type Makers, type Someone } from '../support/makers.ts'

const UNAVAILABLE = '{"message":"503 Service Unavailable"}'

/** A whole instance over the database inside, which a test may kill. */
async function openInside(): Promise<{
  app: FastifyInstance
  opened: Opened
  make: Makers
  dataDir: string
  logs: string[]
  user: Someone
  path: string
  title: () => Promise<LightMyRequestResponse>
  close: () => Promise<void>
}> {
  const dataDir = await mkdtemp(join(tmpdir(), 'guildhall-away-'))
  const logs: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void logs.push(line) })
  const config = readConfig({ PATH: process.env['PATH'], GUILDHALL_DATA_DIR: dataDir })
  const opened = await openInstance(config, { log })
  const { app } = createApp(opened, { log, checkAnswers: Compile })
  const make = createMakers(opened.instance)
  const group = await make.group()
  const user = await make.memberOf('owner', { group })
  await make.admin()
  const path = `/api/v4/groups/${group.id}/labels`
  return {
    app,
    opened,
    make,
    dataDir,
    logs,
    user,
    path,
    title: () => app.inject({ url: `${path}/kept`, headers: { 'private-token': user.token } }),
    close: async () => {
      await app.close()
      await opened.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Asks until the answer has that status, for a while. */
async function until(
  status: number,
  ask: () => Promise<LightMyRequestResponse>,
): Promise<LightMyRequestResponse[]> {
  const answers: LightMyRequestResponse[] = []
  for (let i = 0; i < 6_000; i++) {
    const answer = await ask()
    answers.push(answer)
    if (answer.statusCode === status) return answers
    await sleep(5)
  }
  throw new Error(`no ${status} in ${answers.length} answers, the last ${answers.at(-1)?.body}`)
}

// The database is killed while twenty writes and reads are under way, as the kernel does when memory runs out.
test('GEN-28: without its database the service is 503, and serves again when it is back', async (t) => {
  const { app, dataDir, logs, user, path, title, close } = await openInside()
  t.after(close)
  const headers = { 'private-token': user.token }
  const create = (name: string): Promise<LightMyRequestResponse> =>
    app.inject({ method: 'POST', url: path, headers, payload: { name, color: '#112233' } })
  assert.equal((await create('kept')).statusCode, 201)
  const before = (await title()).json<object>()

  const underWay = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? create(`w${i}`) : title()))
  process.kill(serverPid(dataDir), 'SIGKILL')
  const answers = [...(await Promise.all(underWay)), await title(), await create('lost')]
  const refused = answers.filter(({ statusCode }) => statusCode >= 400)
  assert.ok(refused.length > 0, 'somebody noticed')
  for (const { statusCode, body, headers } of refused) {
    assert.deepEqual([statusCode, body, headers['content-type']], [503, UNAVAILABLE, 'application/json'])
    assert.match(String(headers['retry-after']), /^[1-9]\d*$/)
  }

  const waited = await until(200, title)
  for (const { statusCode, body } of waited.slice(0, -1))
    assert.deepEqual([statusCode, body], [503, UNAVAILABLE])
  assert.deepEqual(waited.at(-1)?.json<object>(), before)
  assert.equal((await until(201, () => create('after'))).at(-1)?.statusCode, 201)

  // Acknowledged writes are there, and nothing else but those under way when the answer was lost.
  const list = await app.inject({ url: `${path}?per_page=100`, headers })
  const kept = new Set(list.json<{ name: string }[]>().map(({ name }) => name))
  answers.forEach(({ statusCode, body }) => {
    if (statusCode === 201) assert.ok(kept.has((JSON.parse(body) as { name: string }).name))
  })
  assert.ok(kept.has('kept') && kept.has('after'))
  assert.deepEqual(
    logs.filter((line) => line.includes(user.token)),
    [],
  )
  assert.deepEqual(
    logs.filter((line) => (JSON.parse(line) as { level: number }).level >= 50),
    [],
  )
})

// A load balancer asks these two, and restarts a server that is not alive.
test('readiness fails until there is an administrator, and while the database takes no writes', async (t) => {
  const { app, make, opened, close } = await openInside()
  t.after(close)
  const ready = async (): Promise<[number, string]> => {
    const { statusCode, body } = await app.inject('/-/readiness')
    return [statusCode, body]
  }
  const failed = (reason: string): [number, string] => [503, `{"status":"failed","reason":"${reason}"}`]
  await opened.client.script('update users set admin = false')
  assert.deepEqual(await ready(), failed('there is no administrator yet'))
  await make.admin()
  assert.deepEqual(await ready(), [200, '{"status":"ok"}'])
  await opened.client.script('alter database guildhall set default_transaction_read_only = on')
  // Sessions have the settings of their beginning.
  await opened.client.script(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  let answer = await ready()
  for (let i = 0; i < 100 && answer[1] !== failed('the database is read-only')[1]; i++) answer = await ready()
  assert.deepEqual(answer, failed('the database is read-only'))
})

test('GEN-28: readiness fails while the database is away, liveness does not', async (t) => {
  const { app, dataDir, title, close } = await openInside()
  t.after(close)
  const pid = serverPid(dataDir)
  process.kill(pid, 'SIGKILL')
  const failing = await until(503, () => app.inject('/-/readiness'))
  assert.equal(failing.at(-1)?.body, '{"status":"failed","reason":"the database is away"}')
  assert.equal(failing.at(-1)?.headers['retry-after'], '1')
  assert.equal((await app.inject('/-/liveness')).body, '{"status":"ok"}')
  assert.equal((await until(200, () => app.inject('/-/readiness'))).at(-1)?.body, '{"status":"ok"}')
  assert.equal((await title()).statusCode, 404)
})
