import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  makeIssue,
  makeLabel,
  makeMergeRequest,
  type WantedIssue,
} from '../../../test/support/label_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type World } from '../../../test/support/world.ts'
import type { Label, Namespace, Project } from '../../db/schema/tables.ts'

let world: World
let admin: Someone
before(async () => {
  world = await openWorld()
  admin = await world.make.admin()
})
after(() => world.close())

interface Counts {
  readonly open_issues_count: number
  readonly closed_issues_count: number
  readonly open_merge_requests_count: number
}
const countsIn = (body: unknown): number[] => {
  const { open_issues_count, closed_issues_count, open_merge_requests_count } = body as Counts
  return [open_issues_count, closed_issues_count, open_merge_requests_count]
}

/** Open issues, closed issues, open merge requests: in the list and by itself, which must agree. */
async function counts(group: Namespace, label: Label, as: Someone): Promise<number[]> {
  const list = await world.get(`/groups/${group.id}/labels?search=${label.title}`, as)
  assert.equal(list.status, 200, list.text)
  const one = await world.get(`/groups/${group.id}/labels/${label.id}`, as)
  const listed = countsIn((list.body as unknown[])[0])
  assert.deepEqual(countsIn(one.body), listed)
  return listed
}

interface Place {
  readonly group: Namespace
  readonly project: Project
  readonly label: Label
}
async function place(visibility: 'private' | 'internal' | 'public'): Promise<Place> {
  const group = await world.make.group({ visibility: 'public' })
  const project = await world.make.project({ group, visibility })
  return { group, project, label: await makeLabel(world, { group }) }
}

test('open and closed issues and open merge requests are counted, each for itself', async () => {
  const { group, project, label } = await place('private')
  const other = await makeLabel(world, { group })
  for (const state of ['opened', 'opened', 'opened', 'closed'] as const)
    await makeIssue(world, project, { label, state })
  for (const state of ['opened', 'opened', 'closed', 'merged', 'locked'] as const)
    await makeMergeRequest(world, project, { label, state })
  await makeIssue(world, project, { label: other })
  await makeIssue(world, project)
  assert.deepEqual(await counts(group, label, admin), [3, 1, 2])
  assert.deepEqual(await counts(group, other, admin), [1, 0, 0])
  const reporter = await world.make.memberOf('reporter', { group })
  assert.deepEqual(await counts(group, label, reporter), [3, 1, 2])
})

test('every answer that shows a label counts alike', async () => {
  const { group, project, label } = await place('private')
  await makeIssue(world, project, { label })
  await makeMergeRequest(world, project, { label })
  const as = await world.make.memberOf('reporter', { group })
  const at = `/groups/${group.id}/labels`
  const answers = [
    await world.call('PUT', `${at}/${label.id}`, { as, body: { description: 'x' } }),
    await world.call('PUT', at, { as, body: { name: label.title, description: 'y' } }),
    await world.call('POST', `${at}/${label.id}/subscribe`, { as }),
    await world.call('POST', `${at}/${label.id}/unsubscribe`, { as }),
  ]
  for (const answer of answers) assert.deepEqual(countsIn(answer.body), [1, 0, 1], answer.text)
})

test('label counts leave out hidden projects', async () => {
  const hidden = await place('private')
  const seen = [
    hidden.project,
    await world.make.project({ group: hidden.group, visibility: 'internal' }),
    await world.make.project({ group: hidden.group, visibility: 'public' }),
    // A label of a group serves the groups below it.
    await world.make.project({
      group: await world.make.group({ parent: hidden.group, visibility: 'private' }),
    }),
  ]
  for (const project of seen) {
    await makeIssue(world, project, { label: hidden.label })
    await makeIssue(world, project, { label: hidden.label, state: 'closed' })
    await makeMergeRequest(world, project, { label: hidden.label })
  }
  const external = await world.make.user()
  await rowsOf(world, 'update users set external = true where id = $1', [external.id])
  const denied = await world.make.memberOf('owner', { group: hidden.group })
  await world.make.member(denied, 'no_access', { project: hidden.project })
  const expired = await world.make.user()
  await world.make.member(expired, 'owner', { group: hidden.group }, '2020-01-01')
  const rows: [string, Someone, number][] = [
    ['an external stranger', external, 1],
    ['a stranger', await world.make.user(), 2],
    ['one whose role ended', expired, 2],
    ['a minimal member', await world.make.memberOf('minimal_access', { group: hidden.group }), 2],
    ['a member of the project', await world.make.memberOf('reporter', { project: hidden.project }), 3],
    ['an owner who is denied one project', denied, 3],
    ['a member of the group', await world.make.memberOf('reporter', { group: hidden.group }), 4],
    ['an administrator', admin, 4],
  ]
  for (const [who, as, n] of rows)
    assert.deepEqual(await counts(hidden.group, hidden.label, as), [n, n, n], who)
})

test('a confidential issue counts for its author, its assignees, and from Planner up', async () => {
  for (const visibility of ['public', 'private'] as const) {
    const { group, project, label } = await place(visibility)
    const guest = (): Promise<Someone> => world.make.memberOf('guest', { project })
    const [author, assignee, other] = [await guest(), await guest(), await guest()]
    const confidential: WantedIssue = { label, confidential: true, author, assignee }
    await makeIssue(world, project, confidential)
    await makeIssue(world, project, { ...confidential, state: 'closed' })
    await makeIssue(world, project, { label })
    const rows: [string, Someone, number[]][] = [
      ['another guest', other, [1, 0, 0]],
      ['the author', author, [2, 1, 0]],
      ['the assignee', assignee, [2, 1, 0]],
      ['a planner', await world.make.memberOf('planner', { project }), [2, 1, 0]],
      ['a planner of the group', await world.make.memberOf('planner', { group }), [2, 1, 0]],
      ['a reporter', await world.make.memberOf('reporter', { project }), [2, 1, 0]],
      ['an owner', await world.make.memberOf('owner', { project }), [2, 1, 0]],
      ['an administrator', admin, [2, 1, 0]],
      ['a stranger', await world.make.user(), visibility === 'public' ? [1, 0, 0] : [0, 0, 0]],
    ]
    for (const [who, as, expected] of rows)
      assert.deepEqual(await counts(group, label, as), expected, `${who}, ${visibility}`)
  }
})

test('label counts leave out issues of authors and assignees without access to the project', async () => {
  const { group, project, label } = await place('private')
  const former = await world.make.user()
  await makeIssue(world, project, { label, author: former, assignee: former })
  await makeIssue(world, project, { label, author: former, assignee: former, confidential: true })
  assert.deepEqual(await counts(group, label, former), [0, 0, 0])
})

test('two assignees and two labels do not count an issue twice', async () => {
  const { group, project, label } = await place('public')
  const [one, two] = [await world.make.user(), await world.make.user()]
  const issue = await makeIssue(world, project, { label, assignee: one, confidential: true })
  await rowsOf(world, 'insert into issue_assignees values ($1, $2)', [issue.id, two.id])
  const other = await makeLabel(world, { group })
  await rowsOf(world, 'insert into label_links (label_id, noteable_id) values ($1, $2)', [other.id, issue.id])
  for (const each of [label, other])
    for (const as of [one, two, admin]) assert.deepEqual(await counts(group, each, as), [1, 0, 0])
})
