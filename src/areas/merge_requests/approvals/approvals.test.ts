import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../../test/support/makers.ts'
import { openWorkshop, type Workshop } from '../../../../test/support/merge_makers.ts'
import { sharedWorld } from '../../../../test/support/stand.ts'

let shop: Workshop
let developer: Someone
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here)
  developer = await here.make.memberOf('developer', { project: shop.project })
})

const set = async (body: object): Promise<void> => {
  const answer = await world().call('POST', `/projects/${shop.project.id}/approvals`, {
    as: shop.owner,
    body,
  })
  assert.equal(answer.status, 201, answer.text)
}
const approve = async (iid: number, as: Someone): Promise<number> =>
  (await shop.ask('POST', `/${iid}/approve`, { as })).status
interface Approvals {
  readonly approved_by: { readonly user: { readonly username: string } }[]
  readonly user_can_approve: boolean
}
const approvals = async (iid: number, as = shop.owner): Promise<Approvals> =>
  (await shop.ask('GET', `/${iid}/approvals`, { as })).body as Approvals
const approvers = async (iid: number): Promise<string[]> =>
  (await approvals(iid)).approved_by.map(({ user }) => user.username)
const sentences = async (iid: number): Promise<string[]> =>
  ((await shop.ask('GET', `/${iid}/notes?sort=asc`)).body as { body: string }[]).map(({ body }) => body)

test('the approval settings of a project are shown and changed', async () => {
  const path = `/projects/${shop.project.id}/approvals`
  const shown = {
    approvers: [],
    approver_groups: [],
    approvals_before_merge: 0,
    reset_approvals_on_push: true,
    merge_requests_author_approval: true,
    merge_requests_disable_committers_approval: false,
    selective_code_owner_removals: false,
    disable_overriding_approvers_per_merge_request: false,
    require_password_to_approve: false,
  }
  assert.deepEqual((await world().get(path, developer)).body, shown)
  await set({ merge_requests_author_approval: false })
  assert.deepEqual((await world().get(path, developer)).body, {
    ...shown,
    merge_requests_author_approval: false,
  })
  await set({ merge_requests_author_approval: true })
  const nothing = await world().call('POST', path, { as: shop.owner, body: {} })
  assert.equal(nothing.status, 400)
})

test('a push of another change takes the approvals away, with a system note', async () => {
  const iid = await shop.open('reset')
  assert.deepEqual([await approve(iid, shop.owner), await approve(iid, developer)], [201, 201])
  await shop.commit('reset', { more: 'x' })
  assert.deepEqual(await approvers(iid), [])
  const [a, b] = [shop.owner.username, developer.username]
  assert.ok((await sentences(iid)).includes(`reset approvals from @${a} and @${b} by pushing to the branch`))
  assert.equal(await approve(iid, developer), 201)
})

test('approvals stay after a rebase that changes nothing, and where the project keeps them', async () => {
  const iid = await shop.open('kept')
  await approve(iid, developer)
  await shop.commit('main', { README: 'zero\none\ntwo\nthree\n' })
  assert.equal((await shop.ask('PUT', `/${iid}/rebase`)).status, 202)
  assert.equal(((await shop.ask('GET', `/${iid}/versions`)).body as unknown[]).length, 2)
  assert.deepEqual(await approvers(iid), [developer.username])
  await set({ reset_approvals_on_push: false })
  await shop.commit('kept', { more: 'x' })
  assert.deepEqual(await approvers(iid), [developer.username])
  await set({ reset_approvals_on_push: true })
})

test('authors do not approve their own merge request where the project says so', async () => {
  await set({ merge_requests_author_approval: false })
  const iid = await shop.open('own')
  assert.equal((await approvals(iid)).user_can_approve, false)
  assert.equal(await approve(iid, shop.owner), 401)
  await shop.ask('POST', `/${iid}/notes`, { body: { body: '/approve' } })
  assert.deepEqual(await approvers(iid), [])
  assert.equal((await approvals(iid, developer)).user_can_approve, true)
  assert.equal(await approve(iid, developer), 201)
  await set({ merge_requests_author_approval: true })
})

test('committers do not approve what they committed where the project says so', async () => {
  await set({ merge_requests_disable_committers_approval: true })
  const iid = await shop.open('committed')
  const other = await world().call('POST', `/projects/${shop.project.id}/repository/commits`, {
    as: developer,
    body: {
      branch: 'committed',
      commit_message: 'Mine',
      actions: [{ action: 'create', file_path: 'mine', content: 'x' }],
    },
  })
  assert.equal(other.status, 201, other.text)
  const third = await world().make.memberOf('developer', { project: shop.project })
  assert.deepEqual(
    [await approve(iid, developer), await approve(iid, shop.owner), await approve(iid, third)],
    [401, 401, 201],
  )
  assert.equal((await approvals(iid, developer)).user_can_approve, false)
  await set({ merge_requests_disable_committers_approval: false })
  assert.equal(await approve(iid, developer), 201)
})
