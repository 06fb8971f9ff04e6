import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { startJobs } from '../../open.ts'
import type { Worker } from '../../jobs/worker.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { openMailServer, type MailServer } from '../../../test/support/smtp.ts'
import { openWorld, type World } from '../../../test/support/world.ts'

let mail: MailServer
let world: World
let worker: Worker
const lines: string[] = []
before(async () => {
  mail = await openMailServer()
  world = await openWorld({ env: { SMTP_URL: mail.url, GUILDHALL_MAIL_FROM: 'hall@guild.example' } })
  worker = startJobs(
    world.opened,
    pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
  )
})
after(async () => {
  await worker.stop()
  await world.close()
  await mail.close()
})

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 600 && !holds(); turn++) await sleep(25)
  assert.ok(holds(), 'it came in time')
}

test('an invitation is mailed, again when the server puts it off, and never twice', async () => {
  const owner = await world.make.user({ name: 'Olga\r\nBcc: everybody@x.example' })
  const group = await world.make.group({ path: 'harbour' })
  await world.make.member(owner, 'owner', { group })
  mail.refuse = 1
  const answer = await world.call('POST', `/groups/${group.id}/invitations`, {
    as: owner,
    body: { email: 'one@x.example,two@x.example', access_level: 30 },
  })
  assert.deepEqual([answer.status, answer.body], [201, { status: 'success' }])
  await until(() => mail.mails.length >= 2)
  assert.equal(mail.refused(), 1)
  assert.deepEqual(mail.mails.map(({ to }) => to).toSorted(), ['one@x.example', 'two@x.example'])
  const [first] = mail.mails
  assert.equal(first?.from, 'hall@guild.example')
  const text = (first?.text ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=')
  const [head = '', body = ''] = text.split('\r\n\r\n')
  assert.ok(!/^bcc:/im.test(head))
  assert.match(head, /^Subject: Olga Bcc: everybody@x\.example invites you to harbour/m)
  assert.ok(body.length > 0)
  const link = /https:\/\/guild\.example(\/-\/invites\?token=[\w-]+)/.exec(text)
  const page = await world.app.inject({ url: link?.[1] ?? '' })
  assert.equal(page.statusCode, 200)
  assert.match(page.body, /is invited to <b>harbour<\/b> as Developer/)
  const token = link?.[1]?.split('=')[1] ?? ''
  assert.ok(token.length > 20 && !(lines.join('') + world.logs.join('')).includes(token))
  await sleep(200)
  assert.equal(mail.mails.length, 2)
  assert.deepEqual(await rowsOf(world, 'select from invitations where mailed_at is null'), [])
})

test('an invitation deleted before its mail is not mailed, and its link is dead', async () => {
  const { sealed_token } = await rowOf<{ sealed_token: Buffer }>(
    world,
    `delete from invitations where email = 'one@x.example' returning sealed_token`,
  )
  const token = world.opened.instance.vault.open(sealed_token)
  assert.equal((await world.app.inject({ url: `/-/invites?token=${token}` })).statusCode, 404)
  assert.equal((await world.app.inject({ url: '/-/invites?token=unknown' })).statusCode, 404)
})
