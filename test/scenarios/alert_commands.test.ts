/* Alerts, their settings and collected errors by the real program's commands, beside a running server. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { openReadyPlace, until, type Ended, type Place, type Running } from '../support/program.ts'

const words = (line: string): string[] => line.split(' ')
const AT = '--project harbour/crane'
const done = ({ code, stdout, stderr }: Ended, text: string): void =>
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `${text}\n`, stderr: '' })
const refused = ({ code, stdout, stderr }: Ended, line: string): void =>
  assert.deepEqual({ code, stdout, stderr }, { code: 1, stdout: '', stderr: `guildhall: ${line}\n` })

type Row = Readonly<Record<string, unknown>>

suite('alerts and errors by commands', () => {
  let place: Place
  let server: Running
  const token = 'a-token-of-the-alert-commands'
  const run = (line: string): Promise<Ended> => place.run(words(`${line} ${AT}`))
  const json = (line: string): Promise<Row> => place.json(words(`${line} ${AT}`))
  const rows = async (line: string): Promise<Row[]> => (await json(line)) as unknown as Row[]
  before(async () => {
    place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: token, LOG_LEVEL: 'warn' })
    server = await place.serve()
    await place.json(words('group create --path harbour'))
    await place.json(words('project create --path harbour/crane'))
  })
  after(() => place.clear())

  const send = async ({ url, key }: Row, payload: object): Promise<number> => {
    const answer = await fetch(String(url), {
      method: 'POST',
      headers: { authorization: `Bearer ${String(key)}` },
      body: JSON.stringify(payload),
    })
    await answer.arrayBuffer()
    return answer.status
  }

  test('an integration is created, listed, tested, given another key and disabled', async () => {
    const made = await json('alert-integration create --type http --name Main')
    assert.deepEqual(Object.keys(made), ['id', 'name', 'url', 'key'])
    assert.equal(made['url'], `${server.url}/harbour/crane/alerts/notify.json`)
    assert.match(String(made['key']), /^[0-9a-f]{32}$/)
    const id = String(made['id'])
    done(await run('alert-integration list'), `${id}  http  active  Main  ${made['url']}`)
    done(await run(`alert-integration test ${id} --title Trial`), 'Alert 1 of harbour/crane: Trial')
    assert.equal(await send(made, { title: 'Trial' }), 200)
    const rotated = await json(`alert-integration rotate ${id}`)
    assert.deepEqual(
      [await send(made, { title: 'Trial' }), await send({ ...made, ...rotated }, { title: 'Trial' })],
      [401, 200],
    )
    done(await run(`alert-integration disable ${id}`), `Integration ${id} is disabled.`)
    assert.equal(await send({ ...made, ...rotated }, { title: 'Trial' }), 403)
    refused(
      await run(`alert-integration test ${id}`),
      `integration ${id} takes no alerts: it is disabled, or the project is archived`,
    )
    done(await run(`alert-integration enable ${id}`), `Integration ${id} is enabled.`)
    assert.equal(await send({ ...made, ...rotated }, { title: 'Trial' }), 200)
    await run(`alert-integration disable ${id}`)
    for (const verb of ['test', 'rotate', 'disable', 'enable'])
      refused(await run(`alert-integration ${verb} 999`), 'harbour/crane has no integration 999')
    refused(
      await place.run(words('alert-integration list --project harbour/none')),
      'there is no project "harbour/none"',
    )
  })

  test('a mapping file that leads nowhere is told, and a good one places attributes', async () => {
    const file = join(place.dataDir, 'mapping.json')
    const creating = `alert-integration create --type http --name Mapped --mapping ${file}`
    const missing = await run(creating)
    assert.deepEqual(
      [missing.code, missing.stderr],
      [2, `guildhall: --mapping: there is no file "${file}"\n`],
    )
    writeFileSync(file, '{"sample": {"a": {"b": "x"}}, "paths": {"title": "$.a.c"}}')
    const wrong = await run(creating)
    assert.deepEqual(
      [wrong.code, wrong.stderr],
      [2, 'guildhall: --mapping: title: $.a.c leads nowhere in the sample\n'],
    )
    writeFileSync(file, '{"sample": {"a": {"b": "x"}}, "paths": {"title": "$.a.b"}}')
    assert.equal(await send(await json(creating), { a: { b: 'mapped' } }), 200)
    assert.equal((await rows('alert list --search mapped'))[0]?.['title'], 'mapped')
  })

  test('alerts are filtered, shown, acknowledged, ignored and resolved', async () => {
    const sender = await json('alert-integration create --type http --name Filters')
    const payload = { service: 'store', severity: 'low', svc_environment_name: 'production' }
    assert.equal(await send(sender, { ...payload, title: 'Disk full' }), 200)
    const [alert] = await rows('alert list --environment production')
    const iid = String(alert?.['iid'])
    assert.deepEqual(
      [
        alert?.['title'],
        alert?.['status'],
        alert?.['severity'],
        alert?.['environment'],
        alert?.['issue_iid'],
      ],
      ['Disk full', 'triggered', 'low', 'production', null],
    )
    assert.deepEqual(await rows('alert list --environment staging'), [])
    done(await run('alert list --environment staging'), 'There are none.')
    assert.equal((await rows('alert list --search STORE')).length, 1)
    assert.equal((await rows('alert list --limit 1')).length, 1)
    const shown = await json(`alert show ${iid}`)
    assert.deepEqual(shown['payload'], { ...payload, title: 'Disk full' })
    assert.match((await run(`alert show ${iid}`)).stdout, /^iid: \d+\ntitle: Disk full\nstatus: triggered\n/)
    for (const [verb, status] of [
      ['acknowledge', 'acknowledged'],
      ['ignore', 'ignored'],
      ['reopen', 'triggered'],
      ['resolve', 'resolved'],
    ] as const) {
      done(await run(`alert ${verb} ${iid}`), `Alert ${iid} is ${status}.`)
      assert.deepEqual(
        (await rows(`alert list --status ${status} --environment production`)).map((one) =>
          String(one['iid']),
        ),
        [iid],
      )
    }
    assert.notEqual((await json(`alert show ${iid}`))['ended_at'], null)
    assert.equal(await send(sender, { ...payload, title: 'Disk full' }), 200)
    refused(
      await run(`alert acknowledge ${iid}`),
      `alert ${iid} is resolved, and a newer one has its fingerprint`,
    )
    for (const verb of ['show', 'acknowledge', 'resolve', 'ignore', 'reopen', 'create-incident'])
      refused(await run(`alert ${verb} 999`), 'harbour/crane has no alert 999')
  })

  test('a title cannot move the cursor of a terminal, or look like another line', async () => {
    const sender = await json('alert-integration create --type http --name Hostile')
    assert.equal(await send(sender, { title: 'a\u001b[2J\n#9  critical  forged\u202e' }), 200)
    const { stdout } = await run('alert list --search forged')
    assert.match(stdout, /^#\d+ {2}critical {2}triggered {2}1x {2}a\\u001b\[2J #9 critical forged\\u202e\n$/)
  })

  test('settings are shown and changed, and incidents opened and closed by them', async () => {
    done(
      await run('alert-settings show'),
      'create incidents: off\nauto-close incidents: on\nincident template: none',
    )
    const file = join(place.dataDir, 'template.md')
    writeFileSync(file, '## Runbook\n\nLook.\n')
    assert.deepEqual(await json(`alert-settings set --create-incidents on --template ${file}`), {
      project: 'harbour/crane',
      create_incidents: true,
      auto_close_incidents: true,
      incident_template: '## Runbook\n\nLook.',
    })
    const sender = await json('alert-integration create --type http --name Incidents')
    assert.equal(await send(sender, { title: 'Down' }), 200)
    const down = async (): Promise<Row | undefined> => (await rows('alert list --search Down'))[0]
    await until('there is an incident', async () => typeof (await down())?.['issue_iid'] === 'number')
    const alert = await down()
    const [iid, issue] = [String(alert?.['iid']), String(alert?.['issue_iid'])]
    assert.match((await run('alert list --search Down')).stdout, / {2}Down {2}\(incident #\d+\)\n$/)
    refused(await run(`alert create-incident ${iid}`), 'An issue already exists')
    assert.equal(await send(sender, { title: 'Down', end_time: '2026-06-01T10:00:00Z' }), 200)
    const path = `/api/v4/projects/harbour%2Fcrane/issues/${issue}`
    await until('the incident is closed', async () => {
      const answer = await server.get(path, { 'private-token': token })
      return ((await answer.json()) as Row)['state'] === 'closed'
    })
    assert.deepEqual(
      await json('alert-settings set --create-incidents off --auto-close-incidents off --no-template'),
      {
        project: 'harbour/crane',
        create_incidents: false,
        auto_close_incidents: false,
        incident_template: null,
      },
    )
  })

  test('an incident is created by hand once, and not for a resolved alert', async () => {
    const sender = await json('alert-integration create --type http --name Hand')
    assert.equal(await send(sender, { title: 'By hand' }), 200)
    const iid = String((await rows('alert list --search hand'))[0]?.['iid'])
    const made = await json(`alert create-incident ${iid}`)
    assert.equal(made['url'], `${server.url}/harbour/crane/-/issues/${String(made['issue_iid'])}`)
    refused(await run(`alert create-incident ${iid}`), 'An issue already exists')
    assert.equal(await send(sender, { title: 'Over' }), 200)
    const over = String((await rows('alert list --search Over'))[0]?.['iid'])
    await run(`alert resolve ${over}`)
    refused(await run(`alert create-incident ${over}`), 'The alert is resolved')
  })

  test('settings that name nothing, or a file that is not there, are told before anything is opened', async () => {
    const empty = await run('alert-settings set')
    assert.deepEqual(
      [empty.code, empty.stderr],
      [
        2,
        'guildhall: name what to change: --create-incidents, --auto-close-incidents, --template or --no-template\n',
      ],
    )
    const missing = await run('alert-settings set --template /nowhere/x.md')
    assert.deepEqual(
      [missing.code, missing.stderr],
      [2, 'guildhall: --template: there is no file "/nowhere/x.md"\n'],
    )
  })

  test('collected errors are listed, shown, resolved, ignored and reopened', async () => {
    const call = async (method: string, path: string, body: object): Promise<Row> => {
      const answer = await fetch(`${server.api}/projects/harbour%2Fcrane/error_tracking/${path}`, {
        method,
        headers: { 'private-token': token, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return (await answer.json()) as Row
    }
    done(await run('error list'), 'There are none.')
    await call('PUT', 'settings', { active: true, integrated: true })
    const { public_key: key, sentry_dsn: dsn } = await call('POST', 'client_keys', {})
    const collector = new URL(String(dsn))
    const id = collector.pathname.split('/').at(-1) ?? ''
    const url = `${server.api}/error_tracking/collector/api/${id}/store/?sentry_key=${String(key)}`
    const sent = await fetch(url, { method: 'POST', body: JSON.stringify({ message: 'Boom\u001b[1m' }) })
    assert.equal(sent.status, 200)
    const [error] = await rows('error list')
    const number = String(error?.['id'])
    done(
      await run('error list'),
      `${number}  error  unresolved  1 event  0 users  ${String(error?.['last_seen_at'])}  Boom\\u001b[1m`,
    )
    assert.equal(((await json(`error show ${number}`))['latest_event'] as Row)['message'], 'Boom\u001b[1m')
    assert.match(
      (await run(`error show ${number}`)).stdout,
      /\nreleases: none\nfirst seen: 2\S+Z\nlatest event: \{\n {2}"message"/,
    )
    for (const [verb, status] of [
      ['resolve', 'resolved'],
      ['ignore', 'ignored'],
      ['reopen', 'unresolved'],
    ] as const) {
      done(await run(`error ${verb} ${number}`), `Error ${number} is ${status}.`)
      assert.equal((await rows(`error list --status ${status}`)).length, 1)
    }
    for (const verb of ['show', 'resolve', 'ignore', 'reopen'])
      refused(await run(`error ${verb} 999999`), 'harbour/crane has no error 999999')
  })
})
