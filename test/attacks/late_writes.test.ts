import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { repositoryPath } from '../../src/core/places/projects.ts'
import type { Project } from '../../src/db/schema/tables.ts'
import type { Someone } from '../support/makers.ts'
import { writeSmallHistory, type SmallHistory } from '../support/small_history.ts'
import { sharedWorld } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

// Writes that wait for the lock of a ref until their caller may not write any more. `clients/git_push` has the pushes.

let history: SmallHistory
const world = sharedWorld(async () => {
  history = writeSmallHistory()
})
/** Longer than the answer of the gates holds. */
const WAIT_MS = 1_500

type Write = (project: Project, as: Someone) => Promise<Answered>
const post =
  (path: string, body: object): Write =>
  (project, as) =>
    world().call('POST', `/projects/${project.id}/repository/${path}`, { as, body })

const WRITES: [string, Write][] = [
  [
    'refs/heads/late',
    post('commits', {
      branch: 'late',
      start_branch: 'main',
      commit_message: 'late',
      actions: [{ action: 'create', file_path: 'late', content: 'x' }],
    }),
  ],
  ['refs/heads/late', post('branches', { branch: 'late', ref: 'main' })],
  ['refs/tags/late', post('tags', { tag_name: 'late', ref: 'main' })],
]

const CHANGES: [(project: Project, as: Someone) => string, number[]][] = [
  [(_, as) => `delete from members where user_id = ${as.id}`, [404]],
  [(_, as) => `update personal_access_tokens set revoked = true where user_id = ${as.id}`, [401]],
  [(_, as) => `update users set state = 'blocked' where id = ${as.id}`, [401, 403]],
  [(project) => `update projects set archived = true where id = ${project.id}`, [403]],
]

test('a write that waited for its branch is refused when its caller may not write any more', async () => {
  const { make, opened } = world()
  await Promise.all(
    WRITES.flatMap(([ref, write]) =>
      CHANGES.map(async ([change, statuses]) => {
        const project = await make.project({ repository: history.directory })
        const as = await make.memberOf('developer', { project })
        const repository = opened.instance.git.repository(repositoryPath(project.id))
        let written: Promise<Answered> | undefined
        await repository.locked([ref], async () => {
          written = write(project, as)
          await sleep(WAIT_MS)
          await make.sql(change(project, as))
        })
        const answer = await written
        assert.ok(statuses.includes(answer?.status ?? 0), `${ref} ${change(project, as)}: ${answer?.text}`)
        assert.equal(await repository.ref(ref), undefined)
      }),
    ),
  )
})
