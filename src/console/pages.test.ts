import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createConsoleClient, type ConsoleClient } from '../../test/support/console_client.ts'
import { buildConsoleWorld, type ConsoleWorld } from '../../test/support/console_world.ts'
import { openWorld, type World } from '../../test/support/world.ts'

let world: World
let made: ConsoleWorld
let mira: ConsoleClient
before(async () => {
  world = await openWorld()
  made = await buildConsoleWorld(world)
  mira = createConsoleClient(world)
  await mira.signIn(made.mira.token)
})
after(() => world.close())

/** Addresses of this server anywhere in an answer, by the names under which they stand. */
function addressesIn(value: unknown, found = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null) return found
  for (const [key, each] of Object.entries(value)) {
    const isAddress = /^(?:web_url|target_url|raw_url|readme_url|web_path)$/.test(key)
    if (isAddress && typeof each === 'string') found.set(each.replace('https://guild.example', ''), key)
    else addressesIn(each, found)
  }
  return found
}

test('every address that the interface hands out leads to a page', async () => {
  const at = `/projects/${made.project.id}`
  await world.call('POST', `/groups/${made.group.id}/epics`, { as: made.mira, body: { title: 'Resilience' } })
  await world.call('POST', `/groups/${made.group.id}/milestones`, {
    as: made.mira,
    body: { title: 'Quarter' },
  })
  const paths = [
    '/user',
    '/groups',
    '/projects',
    '/namespaces',
    '/todos',
    at,
    `${at}/issues`,
    `${at}/merge_requests`,
    `${at}/milestones`,
    `${at}/repository/branches`,
    `${at}/repository/commits`,
    `${at}/repository/compare?from=main&to=retry-upstream`,
    `${at}/pipelines`,
    `${at}/pipelines/${made.pipeline}/jobs`,
    `${at}/snippets`,
    `${at}/members/all`,
    `/groups/${made.group.id}/epics`,
    `/groups/${made.group.id}/milestones`,
  ]
  const addresses = new Map<string, string>()
  for (const path of paths) {
    const { status, body } = await world.get(path, made.mira)
    assert.equal(status, 200, path)
    addressesIn(body, addresses)
  }
  const missing: string[] = []
  for (const [address, key] of addresses) {
    const { status, headers } = await mira.get(address)
    const type = key === 'raw_url' ? 'text/plain' : 'text/html'
    if (status !== 200 || !String(headers['content-type']).startsWith(type))
      missing.push(`${status} ${key} ${address}`)
  }
  assert.deepEqual(missing, [])
  assert.ok(addresses.size > 20, String(addresses.size))
})

const projectPages = (): string[] => {
  const { issue, mergeRequest: merge, milestone, pipeline, jobs, snippet, sha } = made
  return [
    '',
    '/-/tree/main',
    '/-/tree/main/src',
    '/-/blob/main/src/server.ts',
    '/-/blob/main/README.md',
    '/-/blob/main/README.md?plain=1',
    '/-/commits/main',
    '/-/commits/main/src',
    `/-/commit/${sha}`,
    '/-/compare/main...retry-upstream',
    '/-/branches',
    '/-/tags',
    '/-/issues',
    '/-/issues?labels=bug&state=all&search=upstream',
    `/-/issues/${issue}`,
    '/-/merge_requests',
    '/-/merge_requests?state=merged',
    `/-/merge_requests/${merge}`,
    `/-/merge_requests/${merge}/diffs`,
    `/-/merge_requests/${merge}/commits`,
    `/-/merge_requests/${merge}/pipelines`,
    '/-/milestones',
    `/-/milestones/${milestone}`,
    `/-/milestones/${milestone}?by=weight`,
    '/-/labels',
    '/-/pipelines',
    '/-/environments',
    `/-/pipelines/${pipeline}`,
    `/-/jobs/${jobs[0]}`,
    '/-/snippets',
    `/-/snippets/${snippet}`,
    '/-/packages',
    '/-/project_members',
  ]
}

test('every page of a project and a group is open to its members, and of public ones to everybody', async () => {
  const anonymous = createConsoleClient(world)
  const group = [
    '',
    '/-/issues',
    '/-/merge_requests',
    '/-/milestones',
    '/-/labels',
    '/-/iterations',
    '/-/epics',
    '/-/packages',
    '/-/group_members',
  ]
  const pages = [
    ...projectPages().map((path) => `/harbour/gateway${path}`),
    ...group.map((path) => `/groups/harbour${path}`),
    '/explore',
    '/explore?search=gate',
  ]
  const wrong: string[] = []
  for (const page of pages)
    for (const [name, client] of [
      ['member', mira],
      ['anonymous', anonymous],
    ] as const) {
      const { status, headers, text } = await client.get(page)
      const isHtml = String(headers['content-type']).startsWith('text/html') && /<h1[ >]/.test(text)
      // Some lists of public projects are for people who are signed in, as published.
      const wanted =
        name === 'anonymous' && /-\/(?:milestones|labels|environments|\w+_members|jobs)/.test(page)
          ? 401
          : 200
      if (status !== wanted || !isHtml) wrong.push(`${name} ${status} ${page}`)
    }
  assert.deepEqual(wrong, [])
  for (const page of ['/', '/dashboard', '/-/profile', '/harbour/gateway/-/issues/new'])
    assert.equal((await mira.get(page)).status, 200, page)
})

test('hidden and absent records have the same page', async () => {
  const hidden = await world.make.project({
    path: 'hidden',
    group: await world.make.group({ path: 'vault' }),
    repository: 'empty',
  })
  assert.ok(hidden.id > 0)
  const anonymous = createConsoleClient(world)
  for (const client of [anonymous, mira]) {
    const pages = await Promise.all(
      ['/vault/hidden', '/vault/hiding', '/vault/hidden/-/issues/1', '/groups/vault'].map((path) =>
        client.get(path),
      ),
    )
    const texts = pages.map(({ status, text }) =>
      `${status} ${text.replaceAll(/return_to=[^"]*/g, '')}`.replaceAll(/name="csrf" value="[^"]*"/g, ''),
    )
    assert.equal(new Set(texts).size, 1)
    assert.match(texts[0] ?? '', /^404 [^]*Page not found/)
  }
  assert.match(
    (await anonymous.get('/vault/hidden')).text,
    /href="\/users\/sign_in\?return_to=%2Fvault%2Fhidden"/,
  )
})

test('programs are answered as before: only browsers get pages', async () => {
  for (const headers of [{ accept: '*/*' }, { accept: 'application/json' }] as Record<string, string>[]) {
    const { status, headers: got } = await mira.get('/harbour/gateway', headers)
    assert.equal(status, 404)
    assert.match(String(got['content-type']), /json/)
  }
  assert.equal((await mira.get('/api/v4/nothing')).status, 404)
  assert.match(String((await mira.get('/api/v4/nothing')).headers['content-type']), /json/)
  // A session opens pages, never the interface.
  assert.equal((await mira.get('/api/v4/user')).status, 401)
})

test('files are sent as text that does nothing, whatever they hold', async () => {
  const { headers, text, status } = await mira.get('/harbour/gateway/-/raw/main/README.md', {
    accept: 'image/*',
  })
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
  assert.match(String(headers['content-security-policy']), /sandbox/)
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.match(text, /^# Gateway/)
})

test('pages may not be framed, load nothing foreign and run no inline script', async () => {
  const { headers, text } = await mira.get(`/harbour/gateway/-/issues/${made.issue}`)
  assert.match(
    String(headers['content-security-policy']),
    /default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'/,
  )
  assert.equal(headers['x-frame-options'], 'DENY')
  assert.doesNotMatch(text, /<script(?![^>]* src="\/-\/console\/)|<style| style="| on\w+="/)
})

test('a comment and its quick actions are the operation of the interface', async () => {
  const page = `/harbour/gateway/-/issues/${made.issue}`
  const sent = await mira.submit(page, page, {
    body: 'Seen again.\n\n/label ~security\n/due 2027-01-31',
    act: 'comment',
  })
  assert.equal(sent.status, 303)
  const issue = await made.ask('GET', `/projects/${made.project.id}/issues/${made.issue}`)
  assert.deepEqual([issue['labels'], issue['due_date']], [['bug', 'security'], '2027-01-31'])
  assert.match((await mira.get(page)).text, /<p>Seen again\.<\/p>/)
  await mira.submit(page, page, { body: '', act: 'close' })
  assert.equal(
    (await made.ask('GET', `/projects/${made.project.id}/issues/${made.issue}`))['state'],
    'closed',
  )
  const { status, text } = await mira.submit(page, page, { body: '', act: 'comment' })
  assert.equal(status, 400)
  assert.match(text, /body is missing|can(?:'|&#39;)t be blank/)
})

test('the charts of a milestone show what its events say', async () => {
  const { text } = await mira.get(`/harbour/gateway/-/milestones/${made.milestone}`)
  const [, remaining, total] = /Burndown: (\d+) of (\d+) issues remain/.exec(text) ?? []
  const events = (await made.ask('GET', `/projects/${made.project.id}/milestones`)) as unknown as {
    id: number
  }[]
  const burnt = (await made.ask(
    'GET',
    `/projects/${made.project.id}/milestones/${events[0]?.id}/burndown_events?per_page=100`,
  )) as unknown as { action: string }[]
  const count = (action: string): number => burnt.filter((event) => event.action === action).length
  assert.equal(Number(total), count('created'))
  assert.equal(Number(remaining), count('created') - count('closed') + count('reopened'))
})
