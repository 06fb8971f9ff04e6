/* Projects and their labels through the unmodified client @gitbeaker/rest, against the real program. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { errorOf, openHarbour, type Harbour } from '../support/harbour.ts'

let harbour: Harbour
before(async () => {
  harbour = await openHarbour()
})
after(() => harbour.place.clear())

interface Shown {
  readonly id: number
  readonly [name: string]: unknown
}
const shown = (value: unknown): Shown => value as Shown

/** Looks again until a repository that is filled after the answer is there. */
async function filled(id: number): Promise<Shown> {
  const { Projects } = harbour.as('owner')
  for (;;) {
    const project = shown(await Projects.show(id))
    if (project['import_status'] === 'finished' || project['import_status'] === 'failed') return project
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

test('it makes a project, reads it back, changes it, forks it, moves it and removes it', async () => {
  const { groupId, as } = harbour
  const { Projects } = as('owner')
  const made = shown(
    await Projects.create({
      name: 'Tide Table',
      namespaceId: groupId,
      initializeWithReadme: true,
      topics: ['sea'],
      visibility: 'private',
    }),
  )
  assert.deepEqual(
    [made['path_with_namespace'], made['default_branch'], made['empty_repo'], made['topics']],
    ['harbour/tide-table', 'main', false, ['sea']],
  )
  assert.deepEqual(shown(await Projects.show('harbour/tide-table')), made)
  // Calls that release and update bots make before they begin.
  const { permissions } = made as unknown as {
    permissions: { project_access: unknown; group_access: { access_level: number } }
  }
  assert.deepEqual([permissions.project_access, permissions.group_access.access_level], [null, 50])
  for (const name of ['archived', 'mirror', 'merge_method', 'squash_option', 'http_url_to_repo'])
    assert.notEqual(made[name], undefined, name)

  const edited = shown(await Projects.edit(made.id, { description: 'Ebb', mergeMethod: 'ff' }))
  assert.deepEqual([edited['description'], edited['merge_method']], ['Ebb', 'ff'])
  const found = await Projects.all({ search: 'tide', membership: true, simple: true })
  assert.deepEqual(
    found.map(({ id }) => id),
    [made.id],
  )
  assert.equal(shown(await Projects.archive(made.id))['archived'], true)
  assert.equal(shown(await Projects.unarchive(made.id))['archived'], false)
  assert.equal(shown(await Projects.star(made.id))['star_count'], 1)

  const fork = shown(
    await Projects.fork(made.id, { path: 'tide-fork', name: 'Tide Fork', namespaceId: groupId }),
  )
  const full = await filled(fork.id)
  assert.deepEqual([full['import_status'], full['empty_repo']], ['finished', false])
  assert.deepEqual(
    (await Projects.allForks(made.id)).map(({ id }) => id),
    [fork.id],
  )

  const namespace = shown(made['namespace'])
  const again = await errorOf(Projects.transfer(made.id, namespace.id))
  assert.match(again.message, /already in this namespace/)

  await Projects.remove(fork.id)
  await Projects.remove(made.id)
  assert.equal((await errorOf(Projects.show(made.id))).status, 404)
})

test('it walks all projects page by page, by number and by id', async () => {
  const { groupId, as } = harbour
  const { Projects } = as('owner')
  const made: number[] = []
  for (const path of ['one', 'two', 'three'])
    made.push(shown(await Projects.create({ path, name: path, namespaceId: groupId })).id)
  const all = await Projects.all({ owned: true, orderBy: 'id', sort: 'asc', perPage: 1 })
  const ids = all.map(({ id }) => id)
  assert.ok(made.every((id) => ids.includes(id)))
  const keyset = await Projects.all({
    owned: true,
    pagination: 'keyset',
    orderBy: 'id',
    sort: 'asc',
    perPage: 1,
  })
  assert.deepEqual(
    keyset.map(({ id }) => id),
    ids,
  )
  for (const id of made) await Projects.remove(id)
})

test('it makes, lists, shows, changes, promotes and removes the labels of a project', async () => {
  const { projectId, as } = harbour
  const { ProjectLabels, GroupLabels } = as('owner')
  const made = shown(await ProjectLabels.create(projectId, 'needs tide', 'orange', { priority: 2 }))
  assert.deepEqual([made['color'], made['priority'], made['is_project_label']], ['#FFA500', 2, true])
  assert.deepEqual(shown(await ProjectLabels.show(projectId, 'needs tide')), made)
  const listed = await ProjectLabels.all(projectId, { withCounts: true })
  assert.deepEqual(
    listed.map(({ name, open_issues_count }) => [name, open_issues_count]),
    [['needs tide', 0]],
  )
  const edited = shown(await ProjectLabels.edit(projectId, made.id, { newName: 'tide', description: 'High' }))
  assert.deepEqual([edited['name'], edited['description']], ['tide', 'High'])
  const conflict = await errorOf(ProjectLabels.create(projectId, 'tide', 'red'))
  assert.equal(conflict.message, 'Label already exists')
  const promoted = shown(await ProjectLabels.promote(projectId, 'tide'))
  assert.deepEqual([promoted.id, promoted['is_project_label']], [made.id, false])
  assert.equal((await GroupLabels.show('harbour', 'tide')).id, made.id)
  const other = shown(await ProjectLabels.create(projectId, 'ebb', 'red'))
  await ProjectLabels.remove(projectId, other.id)
  assert.equal((await errorOf(ProjectLabels.show(projectId, other.id))).status, 404)
})
