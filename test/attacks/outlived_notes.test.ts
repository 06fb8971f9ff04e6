import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Project } from '../../src/db/schema/tables.ts'
import type { Someone } from '../support/makers.ts'
import { rowsOf } from '../support/rows.ts'
import { sharedWorld } from '../support/stand.ts'

// System notes that name a record which their readers do not see, or do not see any more.

/** The migration that gave system notes the record that they name. */
const OUTLIVED = '0061_note_subjects.sql'

const world = sharedWorld()

async function made(as: Someone, path: string, body: object): Promise<{ id: number; iid: number }> {
  const answer = await world().call('POST', path, { as, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as { id: number; iid: number }
}
async function bodies(project: Project, iid: number, as: Someone): Promise<string[]> {
  const notes = await world().get(`/projects/${project.id}/issues/${iid}/notes?sort=asc`, as)
  const threads = await world().get(`/projects/${project.id}/issues/${iid}/discussions`, as)
  const told = (notes.body as { body: string }[]).map(({ body }) => body)
  const inThreads = (threads.body as { notes: { body: string }[] }[]).flatMap(({ notes: each }) =>
    each.map(({ body }) => body),
  )
  assert.deepEqual(inThreads, told)
  return told
}

test('a note that names an issue is read by those who see that issue now', async () => {
  const { make, call } = world()
  const project = await make.project({ visibility: 'public' })
  const [author, planner, guest, stranger] = [
    await make.memberOf('maintainer', { project }),
    await make.memberOf('planner', { project }),
    await make.memberOf('guest', { project }),
    await make.user(),
  ]
  const issues = `/projects/${project.id}/issues`
  const named = await made(author, issues, { title: 'Named' })
  const speaker = await made(author, issues, { title: 'Speaks', description: `See #${named.iid}` })
  const twin = await made(author, issues, { title: 'Twin' })
  await made(author, `${issues}/${twin.iid}/notes`, { body: `/duplicate #${speaker.iid}` }).catch(
    () => undefined,
  )
  const mention = `mentioned in issue #${speaker.iid}`
  const marked = `marked this issue as a duplicate of #${speaker.iid}`
  const seen = async (): Promise<boolean[][]> =>
    Promise.all(
      [stranger, guest, planner].map(async (as) => [
        (await bodies(project, named.iid, as)).includes(mention),
        (await bodies(project, twin.iid, as)).includes(marked),
      ]),
    )
  const [both, neither] = [
    [true, true],
    [false, false],
  ]
  assert.deepEqual(await seen(), [both, both, both])
  const hide = await call('PUT', `${issues}/${speaker.iid}`, { as: author, body: { confidential: true } })
  assert.equal(hide.status, 200)
  assert.deepEqual(await seen(), [neither, neither, both])
})

test('a note that names an issue elsewhere is hidden when issues there are for members', async () => {
  const { make, call } = world()
  const [project, other] = [
    await make.project({ visibility: 'public' }),
    await make.project({ visibility: 'public' }),
  ]
  const [author, stranger] = [await make.memberOf('owner', { project }), await make.user()]
  await make.member(author, 'owner', { project: other })
  const named = await made(author, `/projects/${project.id}/issues`, { title: 'Named' })
  const text = { title: 'Speaks', description: `See ${project.full_path}#${named.iid}` }
  const speaker = await made(author, `/projects/${other.id}/issues`, text)
  const mention = `mentioned in issue ${other.full_path}#${speaker.iid}`
  const seen = async (): Promise<boolean[]> =>
    Promise.all(
      [stranger, author].map(async (as) => (await bodies(project, named.iid, as)).includes(mention)),
    )
  assert.deepEqual(await seen(), [true, true])
  const body = { issues_access_level: 'private' }
  assert.equal((await call('PUT', `/projects/${other.id}`, { as: author, body })).status, 200)
  assert.deepEqual(await seen(), [false, true])
})

test('a moved issue takes no title of a milestone along that its new project does not have', async () => {
  const { make, call } = world()
  const [secret, open] = [await make.project(), await make.project({ visibility: 'public' })]
  const author = await make.memberOf('maintainer', { project: secret })
  await make.member(author, 'maintainer', { project: open })
  const milestone = await made(author, `/projects/${secret.id}/milestones`, { title: 'Buy the rival' })
  const issue = await made(author, `/projects/${secret.id}/issues`, { title: 'Move me' })
  const at = `/projects/${secret.id}/issues/${issue.iid}`
  await call('PUT', at, { as: author, body: { milestone_id: milestone.id, title: 'Moved' } })
  await made(author, `${at}/notes`, { body: 'Said by people' })
  const moved = await made(author, `${at}/move`, { to_project_id: open.id })
  const told = await bodies(open, moved.iid, author)
  assert.ok(told.includes('Said by people') && told.some((body) => body.startsWith('changed title')))
  const everything = JSON.stringify(
    await rowsOf(world(), 'select * from notes where noteable_id = $1', [moved.id]),
  )
  assert.doesNotMatch(everything, /Buy the rival/)
})

test('older notes get the records that they name from their text', async () => {
  const { make, call } = world()
  const project = await make.project({ visibility: 'public' })
  const [author, stranger] = [await make.memberOf('maintainer', { project }), await make.user()]
  const issues = `/projects/${project.id}/issues`
  const named = await made(author, issues, { title: 'Named' })
  const speaker = await made(author, issues, { title: 'Speaks', description: `See #${named.iid}` })
  // As they stood before migration 61.
  for (const table of ['notes', 'discussions'])
    await make.sql(`update ${table} set mentions_noteable_id = null where noteable_id = ${named.id}`)
  await call('PUT', `${issues}/${speaker.iid}`, { as: author, body: { confidential: true } })
  const mention = `mentioned in issue #${speaker.iid}`
  assert.ok((await bodies(project, named.iid, stranger)).includes(mention))
  const migration = readFileSync(join('src/db/migrations', OUTLIVED), 'utf8')
  await make.sql(migration.replaceAll(/^alter table .*$/gm, ''))
  assert.ok(!(await bodies(project, named.iid, stranger)).includes(mention))
  assert.ok((await bodies(project, named.iid, author)).includes(mention))
})

test('a note that an issue was closed by a merge request is read by those who see that merge request', async () => {
  const { make, call } = world()
  const project = await make.project({ visibility: 'public' })
  const [author, stranger] = [await make.memberOf('maintainer', { project }), await make.user()]
  const closed = await made(author, `/projects/${project.id}/issues`, { title: 'Closed' })
  await make.sql(`
    with request as (
      insert into merge_requests (iid, project_id, source_project_id, author_id, title, source_branch, target_branch)
      values (77, ${project.id}, ${project.id}, ${author.id}, 'Closes', 'a', 'main') returning id),
    thread as (
      insert into discussions (key, noteable_id, individual_note, mentions_project_id, mentions_code, mentions_noteable_id)
      select repeat('c', 40), ${closed.id}, true, ${project.id}, true, id from request returning *)
    insert into notes (discussion_id, noteable_id, author_id, body, system_action, mentions_project_id, mentions_code,
                       mentions_noteable_id)
    select id, noteable_id, ${author.id}, 'closed via merge request !77', 'closed', mentions_project_id, true,
           mentions_noteable_id from thread`)
  const seen = async (): Promise<boolean[]> =>
    Promise.all(
      [stranger, author].map(async (as) =>
        (await bodies(project, closed.iid, as)).includes('closed via merge request !77'),
      ),
    )
  assert.deepEqual(await seen(), [true, true])
  const body = { merge_requests_access_level: 'private' }
  assert.equal((await call('PUT', `/projects/${project.id}`, { as: author, body })).status, 200)
  assert.deepEqual(await seen(), [false, true])
})
