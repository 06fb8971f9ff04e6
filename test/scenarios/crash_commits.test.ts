/* The whole program is killed while clients commit, pick and revert, again and again, and started again as it was. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ask,
  assertKept,
  commitFile,
  historyOf,
  makeRepo,
  type Acknowledged,
  type Repo,
} from '../support/committers.ts'
import { gitText } from '../support/git_fixtures.ts'
import { killServer, killsOf, openReadyPlace, until, type Place, type Running } from '../support/program.ts'

const KILLS = killsOf(4)
const WRITERS = 6
const TOKEN = 'a-token-that-outlives-every-crash'

let place: Place
before(async () => {
  place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: TOKEN, LOG_LEVEL: 'warn' })
})
after(() => place.clear())

/** Commits a file, makes the commit again on another branch, undoes it there, and so on until the server is gone. */
async function write(
  server: Running,
  repo: Repo,
  prefix: string,
  kept: Record<'main' | 'side', Acknowledged[]>,
): Promise<void> {
  for (let i = 0; ; i += 1) {
    const made = await commitFile(server, repo, 'main', `${prefix}-${i}`)
    if (made === undefined) return
    kept.main.push(made)
    for (const verb of ['cherry_pick', 'revert']) {
      const answer = await ask(server, repo, `/commits/${made.sha}/${verb}`, { branch: 'side' })
      if (answer === undefined) return
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      kept.side.push({ sha: String(answer.body['id']) })
    }
  }
}

/** The row says no less than the refs do. */
async function assertRowAgrees(server: Running, repo: Repo): Promise<void> {
  const projects = (await (await server.get('/api/v4/groups/harbour/projects')).json()) as Record<
    string,
    unknown
  >[]
  const row = projects.find(({ id }) => id === repo.id)
  assert.equal(row?.['default_branch'], gitText(repo.directory, ['symbolic-ref', '--short', 'HEAD']))
  const newest = Number(gitText(repo.directory, ['log', '-1', '--all', '--format=%ct'])) * 1000
  assert.ok(
    Date.parse(String(row?.['last_activity_at'])) >= newest,
    'activity is older than the newest commit',
  )
  const listed = (await (
    await server.get(`/api/v4/projects/${repo.id}/repository/commits?per_page=1`)
  ).json()) as { id: string }[]
  assert.equal(listed[0]?.id, gitText(repo.directory, ['rev-parse', 'HEAD']))
}

test('no acknowledged commit, pick or revert is lost when the program is killed, and no branch stays locked', async (t) => {
  let server = await place.serve()
  await place.json(['group', 'create', '--path', 'harbour', '--visibility', 'public'])
  const repo = await makeRepo(place, 'harbour/app', TOKEN)
  const kept: Record<'main' | 'side', Acknowledged[]> = { main: [], side: [] }
  const first = await commitFile(server, repo, 'main', 'first')
  assert.ok(first)
  kept.main.push(first)
  gitText(repo.directory, ['update-ref', 'refs/heads/side', first.sha])
  for (let round = 0; round < KILLS; round += 1) {
    const before = kept.main.length + kept.side.length
    const writers = Array.from({ length: WRITERS }, (_, i) => write(server, repo, `r${round}-w${i}`, kept))
    await until('some writes are acknowledged', () => kept.main.length + kept.side.length >= before + WRITERS)
    await sleep((round * 37) % 150)
    await killServer(place, server, { withDatabase: round % 2 === 1 })
    await Promise.all(writers)

    server = await place.serve()
    for (const branch of ['main', 'side'] as const) {
      const length = assertKept(repo.directory, branch, kept[branch])
      const asked = kept[branch].length + (branch === 'side' ? 1 : 0)
      // At most one request of each writer went unanswered in each round.
      assert.ok(
        length >= asked && length <= asked + WRITERS * (round + 1),
        `${length} commits, ${asked} acknowledged`,
      )
    }
    await assertRowAgrees(server, repo)
    for (const branch of ['main', 'side'] as const) {
      const made = await commitFile(server, repo, branch, `after-${branch}-${round}`)
      assert.ok(made)
      kept[branch].push(branch === 'side' ? { sha: made.sha } : made)
    }
  }
  assert.equal((await server.stop()).code, 0)
  gitText(repo.directory, ['fsck', '--strict', '--no-dangling'])
  const total = kept.main.length + kept.side.length
  t.diagnostic(`${total} acknowledged writes survived ${KILLS} kills`)
  t.diagnostic(
    `${historyOf(repo.directory, 'main').length + historyOf(repo.directory, 'side').length - total} were written and not acknowledged`,
  )
  assert.deepEqual(
    readdirSync(`${place.dataDir}/moving`).filter((name) => !/^\d+\.any\./.test(name)),
    [],
  )
})

test('a first commit that a kill interrupts leaves a project that begins, or one that has begun in full', async () => {
  const rounds = Math.max(2, Math.floor(KILLS / 3))
  let server = await place.serve()
  for (let round = 0; round < rounds; round += 1) {
    const repo = await makeRepo(place, `harbour/begun-${round}`, TOKEN)
    const made = commitFile(server, repo, 'trunk', 'first')
    await sleep(round * 4)
    await killServer(place, server, { withDatabase: round % 2 === 1 })
    const acknowledged = await made
    server = await place.serve()
    const again = await commitFile(server, repo, 'trunk', 'second')
    assert.ok(again)
    assertKept(repo.directory, 'trunk', acknowledged === undefined ? [again] : [acknowledged, again])
    await assertRowAgrees(server, repo)
    const rules = await server.get(`/api/v4/projects/${repo.id}/protected_branches`, {
      'private-token': TOKEN,
    })
    assert.deepEqual(
      ((await rules.json()) as { name: string }[]).map(({ name }) => name),
      ['trunk'],
    )
  }
  assert.equal((await server.stop()).code, 0)
})
