import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repositoryPath } from '../../core/places/projects.ts'
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

test('only callers who may push to the branch of a fork rebase it', async () => {
  const topic = {
    source_branch: 'behind',
    target_branch: 'main',
    title: 'Behind',
    target_project_id: shop.project.id,
  }
  const write = (branch: string, start_branch: string | undefined, file: string): Promise<Answered> =>
    world().call('POST', `/projects/${fork.id}/repository/commits`, {
      as: stranger,
      body: {
        branch,
        start_branch,
        commit_message: `Write ${file}`,
        actions: [{ action: 'create', file_path: file, content: file }],
      },
    })
  assert.equal((await write('behind', 'main', 'behind.txt')).status, 201)
  const made = await world().call('POST', `/projects/${fork.id}/merge_requests`, {
    as: stranger,
    body: topic,
  })
  const { iid } = made.body as Shown
  const moved = await shop.commit('main', { 'ahead.txt': 'ahead\n' })
  assert.equal((await shop.ask('PUT', `/${iid}/rebase`)).status, 403)
  const path = `/projects/${shop.project.id}/merge_requests/${iid}/rebase`
  const answer = await world().call('PUT', path, { as: stranger })
  assert.deepEqual([answer.status, answer.body], [202, { rebase_in_progress: true }])
  assert.equal(gitText(fork.directory, ['merge-base', moved, 'behind']), moved)
  assert.equal((await shown(iid)).sha, gitText(fork.directory, ['rev-parse', 'behind']))
  assert.equal((await shown(iid)).state, 'opened')
})

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
    'ahead.txt',
    'one',
    'two',
  ])
  assert.equal(gitText(fork.directory, ['rev-parse', 'topic']), second)
  gitText(shop.directory, ['fsck', '--strict', '--no-dangling'])
})

test('allowed collaboration opens the source branch of a fork to mergers, and no other branch', async () => {
  const { make } = world()
  const copy = await make.project({ repository: shop.directory, visibility: 'public', path: 'open-copy' })
  await make.member(stranger, 'owner', { project: copy })
  await make.sql(`update projects set forked_from_project_id = ${shop.project.id} where id = ${copy.id}`)
  const root = `/projects/${copy.id}`
  for (const branch of ['ours', 'theirs'])
    await world().call('POST', `${root}/repository/branches`, { as: stranger, body: { branch, ref: 'main' } })
  const wanted = {
    source_branch: 'ours',
    target_branch: 'main',
    title: 'Together',
    target_project_id: shop.project.id,
  }
  const made = await world().call('POST', `${root}/merge_requests`, {
    as: stranger,
    body: { ...wanted, allow_collaboration: true },
  })
  type Open = { iid: number; allow_collaboration: boolean; allow_maintainer_to_push: boolean }
  const { iid, allow_collaboration, allow_maintainer_to_push } = made.body as Open
  assert.deepEqual([made.status, allow_collaboration, allow_maintainer_to_push], [201, true, true])
  let count = 0
  const write = async (as: Someone, branch = 'ours'): Promise<unknown[]> => {
    const actions = [{ action: 'create', file_path: `together-${(count += 1)}`, content: '' }]
    const body = { branch, commit_message: 'm', actions }
    const { status, text } = await world().call('POST', `${root}/repository/commits`, { as, body })
    return status === 201 ? [201] : [status, text]
  }
  const NO = [403, '{"message":"403 Forbidden - You are not allowed to push into this branch"}']
  const maintainer = await make.memberOf('maintainer', { project: shop.project })
  const developer = await make.memberOf('developer', { project: shop.project })
  assert.deepEqual(await write(maintainer), [201])
  for (const branch of ['theirs', 'main', 'new']) assert.deepEqual(await write(maintainer, branch), NO)
  // The target is protected: a Developer merges nothing into it.
  assert.deepEqual(await write(developer), NO)
  const asked = async (): Promise<number> => (await world().statements(() => write(developer))).length
  const once = await asked()
  await make.sql(`
    insert into merge_requests (project_id, iid, author_id, title, source_project_id, source_branch, target_branch, allow_collaboration)
    select ${shop.project.id}, 1000 + i, ${stranger.id}, 'Another', ${copy.id}, 'more-' || i, 'main', true
      from generate_series(1, 20) i`)
  assert.equal(await asked(), once, 'of many offers the rules are read once')
  await make.sql(`delete from merge_requests where project_id = ${shop.project.id} and iid > 1000`)
  const place = copy.full_path
  const told = async (as: Someone): Promise<number> => {
    const authorization = `Basic ${Buffer.from(`x:${as.token}`).toString('base64')}`
    const url = `/${place}.git/info/refs?service=git-receive-pack`
    return (await world().app.inject({ url, headers: { authorization } })).statusCode
  }
  assert.deepEqual([await told(maintainer), await told(developer)], [200, 403])
  const set = (as: Someone, allow_collaboration: boolean): Promise<Answered> =>
    world().call('PUT', `/projects/${shop.project.id}/merge_requests/${iid}`, {
      as,
      body: { allow_collaboration },
    })
  assert.equal(
    ((await set(maintainer, false)).body as Open).allow_collaboration,
    true,
    'it is not theirs to say',
  )
  for (const change of [
    `update projects set visibility = 'private' where id = ${copy.id}`,
    `update projects set visibility = 'public' where id = ${copy.id};
     update merge_requests set state = 'closed' where project_id = ${shop.project.id} and iid = ${iid}`,
  ]) {
    await make.sql(change)
    assert.notEqual((await write(maintainer))[0], 201, change)
  }
  await make.sql(
    `update merge_requests set state = 'opened' where project_id = ${shop.project.id} and iid = ${iid}`,
  )
  assert.deepEqual(await write(maintainer), [201])
  const protect = { name: 'ou*' }
  await world().call('POST', `${root}/protected_branches`, { as: stranger, body: protect })
  assert.deepEqual(await write(maintainer), NO)
  await world().call('DELETE', `${root}/protected_branches/ou*`, { as: stranger })
  assert.equal(((await set(stranger, false)).body as Open).allow_collaboration, false)
  assert.deepEqual(await write(maintainer), NO)
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
