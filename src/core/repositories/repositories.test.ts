import assert from 'node:assert/strict'
import { existsSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openCode, tip, type Code } from '../../../test/support/code.ts'
import { gitLines, gitText } from '../../../test/support/git_fixtures.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { repositoryPath } from '../places/projects.ts'
import { movingRefs } from '../pushes/pushes.ts'
import { maintainRepository, startSweeping } from './repositories.ts'

let code: Code
before(async () => (code = await openCode()))
after(() => code.world.close())

const waiting = (): Promise<object[]> =>
  rowsOf(code.world, `select key from graphile_worker.jobs where task_identifier = 'maintain_repository'`)

test('after a hundred moves of refs a repository is looked after, and stays what it was', async () => {
  const { instance } = code.world.opened
  const repository = instance.git.repository(repositoryPath(code.project.id))
  const to = tip(code.directory, 'main')
  const move = (count: number, name: string): Promise<void> =>
    movingRefs(instance, code.project, false, async () => {
      const refs = Array.from({ length: count }, (_, number) => `refs/heads/${name}-${number}`)
      const moves = refs.map((ref) => ({ ref, from: undefined, to }))
      await repository.moveRefs(moves)
      return { result: undefined, moves }
    })
  await move(99, 'few')
  assert.deepEqual(await waiting(), [])
  await move(1_001, 'many')
  assert.deepEqual(await waiting(), [{ key: `maintain_repository ${code.project.id}` }])
  const refs = gitLines(code.directory, ['for-each-ref'])
  await maintainRepository.run(instance, { project_id: code.project.id })
  assert.deepEqual(gitLines(code.directory, ['for-each-ref']), refs)
  assert.equal(existsSync(join(code.directory, 'refs/heads/many-7')), false)
  assert.equal(await repository.ref('refs/heads/many-7'), to)
  gitText(code.directory, ['fsck', '--strict'])
  await maintainRepository.run(instance, { project_id: 999_999_999 })
})

test('a server that starts removes what a dead one left, and says so', async () => {
  const lock = join(code.directory, 'HEAD.lock')
  writeFileSync(lock, '')
  utimesSync(lock, 1_000_000_000, 1_000_000_000)
  const said = new Promise<unknown[]>((resolve) => {
    const sweeping = startSweeping(code.world.opened.instance.git, (...words) => resolve(words))
    sweeping.stop()
  })
  assert.deepEqual(await said, [
    { locks: 1, temporary: 0, repositories: 0, rooms: 0 },
    'leftovers of dead processes were removed',
  ])
  assert.equal(existsSync(lock), false)
})
