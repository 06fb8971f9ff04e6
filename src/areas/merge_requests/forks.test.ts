import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repositoryPath } from '../../core/projects.ts'
import { gitText } from '../../../test/support/git_fixtures.ts'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

let shop: Workshop
let stranger: Someone
let fork: { id: number; directory: string }
/** A public project, and a fork of it that belongs to somebody without a role there. */
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here, 'public')
  stranger = await here.make.user()
  const copy = await here.make.project({ repository: shop.directory, visibility: 'private', path: 'copy' })
  await here.make.member(stranger, 'owner', { project: copy })
  await here.make.sql(`update projects set forked_from_project_id = ${shop.project.id} where id = ${copy.id}`)
  fork = { id: copy.id, directory: here.opened.instance.git.directory(repositoryPath(copy.id)) }
})

const commit = async (file: string): Promise<string> => {
  const isThere =
    (await world().get(`/projects/${fork.id}/repository/branches/topic`, stranger)).status === 200
  const answer = await world().call('POST', `/projects/${fork.id}/repository/commits`, {
    as: stranger,
    body: {
      branch: 'topic',
      ...(!isThere && { start_branch: 'main' }),
      commit_message: `Write ${file}`,
      actions: [{ action: 'create', file_path: file, content: file }],
    },
  })
  assert.equal(answer.status, 201, answer.text)
  return (answer.body as { id: string }).id
}
const offer = (target_project_id: number, more: object = {}): Promise<Answered> =>
  world().call('POST', `/projects/${fork.id}/merge_requests`, {
    as: stranger,
    body: { source_branch: 'topic', target_branch: 'main', title: 'From a fork', target_project_id, ...more },
  })
interface Shown {
  readonly iid: number
  readonly project_id: number
  readonly source_project_id: number
  readonly target_project_id: number
  readonly sha: string
  readonly state: string
  readonly labels: string[]
  readonly changes_count: string
  readonly user: { readonly can_merge: boolean }
  readonly detailed_merge_status: string
}
const shown = async (iid: number): Promise<Shown> => (await shop.ask('GET', `/${iid}`)).body as Shown

test('a fork offers its branch to where it came from, which follows it and merges it', async () => {
  const first = await commit('one')
  const made = await offer(shop.project.id, { labels: 'not for me to say' })
  assert.equal(made.status, 201, made.text)
  const { iid, ...row } = made.body as Shown
  assert.deepEqual(
    [row.project_id, row.source_project_id, row.target_project_id, row.sha, row.labels, row.user.can_merge],
    [shop.project.id, fork.id, shop.project.id, first, [], false],
  )
  const second = await commit('two')
  const now = await shown(iid)
  assert.deepEqual([now.sha, now.changes_count, now.detailed_merge_status], [second, '2', 'mergeable'])
  assert.equal(gitText(shop.directory, ['rev-parse', `refs/merge-requests/${iid}/head`]), second)
  const refused = await world().call('PUT', `/projects/${shop.project.id}/merge_requests/${iid}/merge`, {
    as: stranger,
  })
  assert.equal(refused.status, 401)
  const merged = await shop.ask('PUT', `/${iid}/merge`, {
    body: { sha: second, should_remove_source_branch: true },
  })
  assert.deepEqual([merged.status, (merged.body as Shown).state], [200, 'merged'], merged.text)
  assert.deepEqual(gitText(shop.directory, ['ls-tree', '--name-only', 'main']).split('\n'), [
    'README',
    'one',
    'two',
  ])
  assert.equal(gitText(fork.directory, ['rev-parse', 'topic']), second)
  gitText(shop.directory, ['fsck', '--strict', '--no-dangling'])
})

test('nothing is offered to strangers, to what is hidden, or to what is switched off', async () => {
  const { make } = world()
  await commit('three')
  const [other, hidden] = [
    await make.project({ visibility: 'public', repository: 'empty' }),
    await make.project({ visibility: 'private', repository: 'empty' }),
  ]
  const foreign = await offer(other.id)
  assert.deepEqual(
    [foreign.status, foreign.body],
    [422, { message: ['Source project is not a fork of the target project'] }],
  )
  for (const id of [hidden.id, 999_999])
    assert.deepEqual((await offer(id)).body, { message: '404 Project Not Found' })
  await make.sql(
    `update projects set settings = settings || '{"merge_requests_access_level":"private"}' where id = ${shop.project.id}`,
  )
  assert.equal((await offer(shop.project.id)).status, 403)
})

test('a fork that is gone leaves its merge request, which nothing can be merged from', async () => {
  const { make } = world()
  await make.sql(`update projects set settings = '{}' where id = ${shop.project.id}`)
  const { iid } = (await offer(shop.project.id)).body as Shown
  await make.sql(`delete from projects where id = ${fork.id}`)
  assert.equal((await shown(iid)).detailed_merge_status, 'commits_status')
  assert.equal((await shop.ask('PUT', `/${iid}/merge`)).status, 405)
  assert.equal(((await shop.ask('GET', `/${iid}/commits`)).body as unknown[]).length, 1)
})
