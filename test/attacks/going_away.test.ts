import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../support/makers.ts'
import { sharedWorld } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

// A record is deleted while requests beneath it are under way: each answers as one that came before or after, none with
// a fault of the server.

const at = sharedWorld()
const ROUNDS = 4

type Ask = readonly [method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object]
async function together(as: Someone, asks: readonly Ask[]): Promise<Answered[]> {
  return Promise.all(
    asks.map(([method, path, body]) => at().call(method, path, { as, ...(body && { body }) })),
  )
}
const times = (count: number, ask: Ask): Ask[] => Array.from({ length: count }, () => ask)

function checkAnswers(answers: readonly Answered[], refusals: readonly string[]): void {
  for (const { status, text } of answers)
    assert.ok(status < 300 || refusals.includes(text), `${status} ${text}`)
}
const said = (...texts: string[]): string[] => texts.map((message) => JSON.stringify({ message }))

for (const [what, rest, body] of [
  ['an issue', 'issues', { title: 'one' }],
  ['a label', 'labels', { name: 'one', color: '#112233' }],
  ['a badge', 'badges', { link_url: 'https://x.example', image_url: 'https://x.example' }],
  ['a protected branch', 'protected_branches', { name: 'main' }],
  ['a branch', 'repository/branches', { branch: 'new', ref: 'main' }],
  [
    'a commit',
    'repository/commits',
    {
      branch: 'main',
      commit_message: 'one',
      actions: [{ action: 'create', file_path: 'one', content: '1' }],
    },
  ],
] as const)
  test(`a project goes away under ${what} that is made`, async () => {
    const owner = await at().make.user()
    for (let round = 0; round < ROUNDS; round += 1) {
      const made = await at().call('POST', '/projects', {
        as: owner,
        body: { name: `app ${what} ${round}`, initialize_with_readme: true },
      })
      const path = `/projects/${(made.body as { id: number }).id}`
      const answers = await together(owner, [
        ...times(2, ['POST', `${path}/${rest}`, body]),
        ['DELETE', path],
        ...times(2, ['POST', `${path}/${rest}`, body]),
        ...times(2, ['GET', path]),
      ])
      const taken = answers.filter(({ status }) => status === 409 || status === 400)
      checkAnswers(
        answers.filter((answer) => !taken.includes(answer)),
        said('404 Project Not Found'),
      )
    }
  })

test('an issue goes away under what is said of it', async () => {
  const project = await at().make.project()
  const owner = await at().make.memberOf('owner', { project })
  for (let round = 1; round <= ROUNDS; round += 1) {
    await at().call('POST', `/projects/${project.id}/issues`, { as: owner, body: { title: 'one' } })
    const path = `/projects/${project.id}/issues/${round}`
    const answers = await together(owner, [
      ['POST', `${path}/notes`, { body: 'a' }],
      ['POST', `${path}/discussions`, { body: 'a' }],
      ['DELETE', path],
      ['POST', `${path}/notes`, { body: 'b' }],
      ['POST', `${path}/award_emoji`, { name: 'tada' }],
      ['PUT', path, { title: 'two' }],
      ['POST', `${path}/time_estimate`, { duration: '1h' }],
      ['POST', `${path}/todo`],
    ])
    const untouched = answers.filter(({ status }) => status === 304)
    checkAnswers(
      answers.filter((answer) => !untouched.includes(answer)),
      said('404 Issue Not Found', '404 Award Emoji Not Found', '404 Not found'),
    )
  }
})

test('a group goes away under what is made in it', async () => {
  const owner = await at().make.user()
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id } = await at().make.group()
    await at().make.member(owner, 'owner', { group: { id } })
    const [gone, ...answers] = await together(owner, [
      ['DELETE', `/groups/${id}`],
      ['POST', '/projects', { name: `one ${round}`, namespace_id: id }],
      ['POST', `/groups/${id}/labels`, { name: 'one', color: '#112233' }],
      ['POST', `/groups/${id}/epics`, { title: 'one' }],
      ['POST', `/groups/${id}/milestones`, { title: 'one' }],
      ['POST', '/projects', { name: `two ${round}`, namespace_id: id, initialize_with_readme: true }],
    ])
    // A deletion is not acknowledged while the record stands.
    checkAnswers(gone ? [gone] : [], said('409 Conflict: Resource lock'))
    const noHome = JSON.stringify({ message: { namespace: ['is not valid'] } })
    checkAnswers(answers, [
      ...said('404 Group Not Found', '404 Namespace Not Found', '404 Not found'),
      noHome,
    ])
  }
})

test('access is checked again after it was revoked during a write', async () => {
  const admin = await at().make.admin()
  for (let round = 0; round < ROUNDS; round += 1) {
    const person = await at().make.user()
    const write = (name: string): Promise<Answered> =>
      at().call('POST', '/projects', { as: person, body: { name, initialize_with_readme: true } })
    const [gone, ...answers] = await Promise.all([
      at().call('DELETE', `/users/${person.id}?hard_delete=true`, { as: admin }),
      ...['one', 'two', 'three'].map(write),
    ])
    // The two may lock what the other needs; one of them gives way, and says so.
    const lock = '409 Conflict: Resource lock'
    checkAnswers(
      [gone, ...answers],
      said('401 Unauthorized', '404 Not found', '404 Namespace Not Found', lock),
    )
  }
})
