/* Findings by the real program's commands, and exports that outlive their server or their hour. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { findSocketDirectory } from '../../src/db/embedded/socket.ts'
import { databaseName, userName } from '../../src/db/embedded/cluster.ts'
import { killServer, openReadyPlace, until, type Place, type Running } from '../support/program.ts'

const words = (line: string): string[] => line.split(' ')
const report = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/scanners/${name}`, import.meta.url))

type Body = Readonly<Record<string, unknown>>

suite('vulnerabilities by commands, and their exports', () => {
  let place: Place
  let server: Running
  let headers: Readonly<Record<string, string>>
  before(async () => {
    place = await openReadyPlace()
    server = await place.serve()
    await place.json(words('group create --path harbour'))
    await place.json(words('project create --path harbour/app'))
    const { token } = await place.json(words('token create --user root --scopes api'))
    headers = { 'private-token': String(token) }
  })
  after(() => place.clear())

  const connect = async (): Promise<pg.Client> => {
    const host = findSocketDirectory(join(place.dataDir, 'postgres'))
    if (host === undefined) throw new Error('there is no database')
    const client = new pg.Client({ host, port: 5432, user: userName, database: databaseName })
    await client.connect()
    return client
  }
  const sql = async (text: string): Promise<void> => {
    const client = await connect()
    await client.query(text)
    await client.end()
  }
  const create = async (): Promise<unknown> => {
    const url = `${server.api}/security/projects/harbour%2Fapp/vulnerability_exports`
    const answer = await fetch(url, { method: 'POST', headers })
    assert.equal(answer.status, 201)
    return ((await answer.json()) as Body)['id']
  }
  const get = (id: unknown, rest = ''): Promise<Response> =>
    server.get(`/api/v4/security/vulnerability_exports/${String(id)}${rest}`, headers)
  const untilFinished = (id: unknown): Promise<void> =>
    until('the export is finished', async () => (await get(id)).status === 200)

  test('a report is imported, listed, judged and shown', async () => {
    const importing = words('vulnerability import --project harbour/app --format npm-audit')
    const told = await place.run([...importing, report('npm-audit.json')])
    assert.equal(told.stdout, '2 created, 0 updated, 0 reappeared, 0 unchanged, 0 gone\n', told.stderr)
    const again = await place.json([...importing, report('npm-audit.json')])
    assert.deepEqual([again['created'], again['unchanged']], [0, 2])
    const wrong = await place.run([...importing, report('eslint.sarif')])
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /eslint\.sarif: auditReportVersion is not 2\n$/)
    const dismissed = words('vulnerability dismiss 1 --by root --reason used_in_tests --comment tests')
    assert.equal((await place.run(dismissed)).stdout, 'Vulnerability 1 is dismissed.\n')
    assert.equal((await place.run(dismissed)).stderr, 'guildhall: vulnerability 1 is dismissed already\n')
    const shown = await place.json(words('vulnerability show 1'))
    assert.deepEqual([shown['state'], shown['dismissal_reason']], ['dismissed', 'used_in_tests'])
    const [transition] = shown['transitions'] as Body[]
    assert.deepEqual([transition?.['author'], transition?.['comment']], ['root', 'tests'])
    assert.match(
      (await place.run(words('vulnerability show 1'))).stdout,
      /Z dismissed \(used_in_tests\) by root tests\n$/,
    )
    assert.equal(
      (await place.run(words('vulnerability reopen 1 --by root'))).stdout,
      'Vulnerability 1 is detected.\n',
    )
    assert.deepEqual((await place.json(words('vulnerability show 1')))['dismissal_reason'], null)
    await place.run(dismissed)
    await sql(`update vulnerabilities set name = E'Forged\\n9  critical' where id = 1`)
    assert.equal(
      (await place.run(words('vulnerability list --project harbour/app --state dismissed'))).stdout,
      '1  high  dismissed  Forged 9 critical\n',
    )
    const listed = await place.run(words('vulnerability list --project harbour/app --state detected'))
    assert.equal(listed.stdout, '2  medium  detected  Prototype Pollution in minimist (demo advisory)\n')
  })

  test('an export whose server is killed in the middle is made by the next one', async () => {
    await sql(`
      insert into vulnerabilities (project_id, report_type, scanner, scanner_name, fingerprint, name, severity,
                                   identifiers, location)
      select 1, 'sast', 'made', 'Made', sha256(n::text::bytea), 'finding ' || n, 'low', '[]', '{}'
        from generate_series(1, 2000) n`)
    // The export waits in the middle of its file for a table that it reads.
    const holder = await connect()
    holder.on('error', () => {})
    await holder.query('begin; lock table vulnerability_transitions')
    const id = await create()
    const status = async (): Promise<unknown> => ((await (await get(id)).json()) as Body)['status']
    await until('the export runs', async () => (await status()) === 'running')
    const told = await place.run(words('vulnerability exports'))
    assert.equal(told.stdout, `${String(id)}  running  harbour/app  by root: 0 rows\n`, told.stderr)
    await killServer(place, server)
    await holder.end().catch(() => {})
    server = await place.serve()
    assert.equal(await status(), 'running')
    await untilFinished(id)
    const body = (await (await get(id)).json()) as Body
    assert.equal(body['status'], 'finished')
    const file = await (await get(id, '/download')).text()
    assert.equal(file.trimEnd().split('\n').length, 2_003)
  })

  test('the tier is changed beside the running server, from its next request on', async () => {
    const ask = async (): Promise<number> => {
      const url = `${server.api}/security/projects/harbour%2Fapp/vulnerability_exports`
      return (await fetch(url, { method: 'POST', headers })).status
    }
    for (const [tier, status] of [
      ['premium', 403],
      ['ultimate', 201],
    ] as const) {
      const told = await place.run(words(`setting set tier ${tier}`))
      assert.equal(told.code, 0, told.stderr)
      assert.equal(await ask(), status)
    }
    // On the hosted offering the plan of the namespace decides.
    await place.run(words('setting set offering hosted'))
    assert.equal(await ask(), 403)
    const told = await place.run(words('plan set --namespace harbour --plan ultimate'))
    assert.equal(told.stdout, 'harbour has the plan ultimate.\n', told.stderr)
    assert.equal(await ask(), 201)
    const none = await place.run(words('plan set --namespace none --plan ultimate'))
    assert.equal(none.stderr, 'guildhall: there is no namespace "none"\n')
    await place.run(words('setting set offering self-managed'))
  })

  test('an export is gone after its hour, also where the server was down when it passed', async () => {
    const id = await create()
    await untilFinished(id)
    await sql(
      `update vulnerability_exports set created_at = created_at - interval '1 hour' where id = ${String(id)}`,
    )
    for (const rest of ['', '/download']) assert.equal((await get(id, rest)).status, 404)
    await server.stop()
    server = await place.serve()
    for (const rest of ['', '/download']) assert.equal((await get(id, rest)).status, 404)
  })
})
