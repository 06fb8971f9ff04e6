/* The whole program is killed while git pushes, again and again, and started again as it was. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gitClientOf, type GitClient } from '../support/git_client.ts'
import { gitLines, gitText, scratch, writeHistory } from '../support/git_fixtures.ts'
import { killServer, killsOf, openReadyPlace, until, type Place, type Running } from '../support/program.ts'

const KILLS = killsOf(3)
const PUSHERS = 3
const TOKEN = 'a-token-that-outlives-every-crash'

let place: Place
before(async () => {
  place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: TOKEN, LOG_LEVEL: 'warn' })
})
after(() => place.clear())

/** Pushes commits to a branch of its own until the server is gone; adds those whose push was acknowledged. */
async function push(git: GitClient, directory: string, acknowledged: string[]): Promise<void> {
  const url = git.url('harbour/app.git', { token: TOKEN })
  for (;;) {
    await git.git(directory, 'commit', '--quiet', '--allow-empty', '-m', 'again')
    const { code } = await git.run(directory, [
      'push',
      '--quiet',
      url,
      `HEAD:refs/heads/${branchOf(directory)}`,
    ])
    if (code !== 0) return
    acknowledged.push(await git.git(directory, 'rev-parse', 'HEAD'))
  }
}

const branchOf = (directory: string): string => directory.slice(directory.lastIndexOf('/') + 1)

const portOf = (server: Running): number => Number(new URL(server.url).port)

test('no acknowledged push is lost by a kill, and every branch can be pushed to afterwards', async (t) => {
  let server = await place.serve()
  const source = join(scratch(), 'source.git')
  writeHistory(source, 60, 2)
  await place.run(['group', 'create', '--path', 'harbour', '--visibility', 'public'])
  const { id } = await place.json(['project', 'create', '--path', 'harbour/app', '--import', source])
  const remote = join(
    place.dataDir,
    `repositories/${(Number(id) % 256).toString(16).padStart(2, '0')}/${Number(id)}.git`,
  )
  const home = gitClientOf(portOf(server))
  const clones: string[] = []
  for (let index = 0; index < PUSHERS; index += 1) {
    const directory = join(home.place, `pusher-${index}`)
    await home.git(home.place, 'clone', '--quiet', source, directory)
    clones.push(directory)
  }
  const acknowledged = clones.map((): string[] => [])
  for (let round = 0; round < KILLS; round += 1) {
    const git = gitClientOf(portOf(server))
    const known = acknowledged.flat().length
    const pushing = clones.map((directory, index) => push(git, directory, acknowledged[index] ?? []))
    await until('a push is acknowledged', () => acknowledged.flat().length > known)
    await sleep((round * 137) % 400)
    await killServer(place, server)
    await Promise.all(pushing)
    server = await place.serve()
    const made = new Set(gitLines(remote, ['rev-list', '--glob=refs/heads/pusher-*']))
    assert.deepEqual(
      acknowledged.flat().filter((sha) => !made.has(sha)),
      [],
    )
    assert.equal(gitText(remote, ['fsck', '--full', '--no-dangling']), '')
  }
  t.diagnostic(`${acknowledged.flat().length} pushes were acknowledged before ${KILLS} kills`)
  const git = gitClientOf(portOf(server))
  const url = git.url('harbour/app.git', { token: TOKEN })
  for (const directory of clones)
    await git.git(directory, 'push', '--quiet', url, `HEAD:${branchOf(directory)}`)
})
