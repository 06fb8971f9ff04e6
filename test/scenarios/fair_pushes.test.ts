import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openGitClient, type GitClient } from '../support/git_client.ts'
import { gitLines, gitText, scratch, writeHistory } from '../support/git_fixtures.ts'
import type { Someone } from '../support/makers.ts'
import { openWorld, type World } from '../support/world.ts'

// Writers through the interface move a branch every few milliseconds; a push needs a fetch first. Nobody may starve.
// FAIR_SECONDS makes it last longer, FAIR_WRITERS and FAIR_PUSHERS wider.

const SECONDS = Number(process.env['FAIR_SECONDS'] ?? 3)
const WRITERS = Number(process.env['FAIR_WRITERS'] ?? 16)
const PUSHERS = Number(process.env['FAIR_PUSHERS'] ?? 4)

let world: World
let client: GitClient
before(async () => {
  world = await openWorld()
  client = await openGitClient(world)
})
after(() => world.close())

test('writers and pushers on one branch all get through, and nothing of anybody is lost', async (t) => {
  const source = join(scratch(), 'source.git')
  writeHistory(source, 60, 9)
  const project = await world.make.project({ repository: source })
  const remote = world.opened.instance.git.directory(
    `${(project.id % 256).toString(16).padStart(2, '0')}/${project.id}.git`,
  )
  const start = gitText(remote, ['rev-parse', 'main'])
  const acknowledged: string[] = []
  const writers = await Promise.all(
    Array.from({ length: WRITERS }, () => world.make.memberOf('maintainer', { project })),
  )
  const pushers = await Promise.all(
    Array.from({ length: PUSHERS }, () => world.make.memberOf('maintainer', { project })),
  )
  const clones = await Promise.all(
    pushers.map(async (as, index) => {
      const directory = join(client.place, `pusher-${index}`)
      await client.git(client.place, 'clone', '--quiet', client.url(project.full_path, as), directory)
      return directory
    }),
  )
  const end = performance.now() + SECONDS * 1_000
  const wrote = writers.map(() => 0)
  const landed = pushers.map(() => 0)
  const refused = pushers.map(() => 0)

  /** Writers write on until each pusher has landed once, or had time enough. */
  const isOver = (): boolean => {
    const late = performance.now() - end
    return late > 20_000 || (late > 0 && landed.every((count) => count > 0))
  }

  const write = async (as: Someone, writer: number): Promise<void> => {
    while (!isOver()) {
      const answer = await world.call('POST', `/projects/${project.id}/repository/commits`, {
        as,
        body: {
          branch: 'main',
          commit_message: 'by the interface',
          actions: [{ action: 'create', file_path: `w${writer}/${wrote[writer]}`, content: 'x' }],
        },
      })
      assert.equal(answer.status, 201, answer.text)
      acknowledged.push((answer.body as { id: string }).id)
      wrote[writer] = (wrote[writer] ?? 0) + 1
    }
  }
  const push = async (directory: string, pusher: number): Promise<void> => {
    while (!isOver()) {
      await client.git(directory, 'fetch', '--quiet', 'origin', 'main')
      await client.git(directory, 'reset', '--quiet', '--hard', 'FETCH_HEAD')
      writeFileSync(join(directory, `p${pusher}`), String(landed[pusher]))
      await client.git(directory, 'add', '--all')
      await client.git(directory, 'commit', '--quiet', '-m', 'by a push')
      const { code } = await client.run(directory, ['push', '--quiet', 'origin', 'HEAD:main'])
      if (code === 0) acknowledged.push(await client.git(directory, 'rev-parse', 'HEAD'))
      const counts = code === 0 ? landed : refused
      counts[pusher] = (counts[pusher] ?? 0) + 1
    }
  }
  await Promise.all([...writers.map(write), ...clones.map(push)])
  t.diagnostic(`written ${String(wrote)}; pushed ${String(landed)}; pushes refused ${String(refused)}`)

  assert.ok(
    landed.every((count) => count > 0),
    `each pusher lands: ${String(landed)}`,
  )
  assert.ok(
    wrote.every((count) => count > 0),
    `each writer writes: ${String(wrote)}`,
  )
  const history = gitLines(remote, ['rev-list', '--first-parent', `${start}..main`])
  assert.deepEqual(history.toSorted(), acknowledged.toSorted())
  assert.equal(gitText(remote, ['rev-list', '--count', `${start}..main`]), String(history.length))
  assert.equal(gitText(remote, ['fsck', '--full', '--no-dangling']), '')
})
