/* People who are not members yet, as an administrator deals with them at the command line. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { openReadyPlace, type Place, type Running } from '../support/program.ts'

const TOKEN = 'glpat-the-first-and-only-token'

suite('beside a running server without a mail server', () => {
  let place: Place
  let server: Running
  const words = (line: string): string[] => line.split(' ')
  const call = async (method: string, path: string, body: object): Promise<unknown> => {
    const headers = { 'private-token': TOKEN, 'content-type': 'application/json' }
    const answer = await fetch(`${server.api}${path}`, { method, headers, body: JSON.stringify(body) })
    return answer.json()
  }
  before(async () => {
    place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: TOKEN })
    server = await place.serve()
    await place.json(words('group create --path harbour'))
  })
  after(() => place.clear())

  test('the link of an invitation is printed, and leads to what it is to', async () => {
    assert.equal((await place.run(['invitation', 'list'])).stdout, 'Nobody is invited.\n')
    await call('POST', '/groups/harbour/invitations', { email: 'mira@x.example', access_level: 30 })
    const { stdout } = await place.run(['invitation', 'list'])
    const line = /^mira@x\.example {2}harbour {2}Developer {2}(\S+)\n$/.exec(stdout)
    const page = await fetch(line?.[1] ?? '')
    assert.equal(page.status, 200)
    assert.match(await page.text(), /mira@x\.example is invited to <b>harbour<\/b> as Developer/)
  })

  test('an address that is confirmed is as good as a first one', async () => {
    await place.json(words('user create --username mira --name Mira --email mira@home.example'))
    await call('POST', '/user/emails?sudo=mira', { email: 'mira@x.example' })
    const confirm = words('email confirm --user mira --email mira@x.example')
    assert.equal((await place.run(confirm)).stdout, "mira@x.example is known to be mira's.\n")
    assert.equal((await place.run(['invitation', 'list'])).stdout, 'Nobody is invited.\n')
    const wrong = await place.run(words('email confirm --user mira --email other@x.example'))
    assert.deepEqual([wrong.code, wrong.stderr], [1, 'guildhall: "mira" has no address other@x.example\n'])
  })

  test('promotions that wait are listed, approved and denied', async () => {
    for (const name of ['olga', 'low', 'lower'])
      await place.json(words(`user create --username ${name} --name ${name} --email ${name}@x.example`))
    await place.json(words('member add --group harbour --user olga --role owner'))
    await place.json(words('setting set enable_member_promotion_management true'))
    await call('POST', '/groups/harbour/invitations?sudo=olga', {
      email: 'low@x.example,lower@x.example',
      access_level: 30,
    })
    assert.equal(
      (await place.run(['promotion', 'list'])).stdout,
      'low  harbour  Developer  asked for by olga\nlower  harbour  Developer  asked for by olga\n',
    )
    assert.equal((await place.run(words('promotion approve --user low'))).stdout, 'low has the role.\n')
    assert.equal(
      (await place.run(words('promotion deny --user lower'))).stdout,
      'lower does not get the role.\n',
    )
    assert.equal((await place.run(['promotion', 'list'])).stdout, 'No promotion waits.\n')
    const levels = (await server
      .get('/api/v4/groups/harbour/members', { 'private-token': TOKEN })
      .then((a) => a.json())) as {
      username: string
      access_level: number
    }[]
    assert.deepEqual(
      levels.filter(({ username }) => username.startsWith('low')).map((m) => [m.username, m.access_level]),
      [['low', 30]],
    )
    const none = await place.run(words('promotion approve --user low'))
    assert.deepEqual([none.code, none.stderr], [1, 'guildhall: no promotion of "low" waits\n'])
  })
})
