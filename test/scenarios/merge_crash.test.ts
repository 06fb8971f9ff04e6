/* The whole program is killed while merge requests are merged, and started again as it was: refs and rows agree. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { commitFile, makeRepo, type Repo } from '../support/committers.ts'
import { gitLines, gitText } from '../support/git_fixtures.ts'
import { killServer, killsOf, openReadyPlace, until, type Place, type Running } from '../support/program.ts'

const KILLS = killsOf(3)
const REQUESTS = 9
const TOKEN = 'a-token-that-outlives-every-crash'

let place: Place
before(async () => {
  place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: TOKEN, LOG_LEVEL: 'warn' })
})
after(() => place.clear())

interface Shown {
  readonly iid: number
  readonly state: string
  readonly source_branch: string
  readonly merge_commit_sha: string | null
  readonly squash_commit_sha: string | null
  readonly merge_user: object | null
}

async function call(
  server: Running,
  repo: Repo,
  wanted: string,
  body?: object,
): Promise<{ status: number; body: unknown } | undefined> {
  const [method = '', path = ''] = wanted.split(' ')
  try {
    const answer = await fetch(`${server.api}/projects/${repo.id}${path}`, {
      method,
      headers: { 'private-token': TOKEN, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: await answer.json() }
  } catch {
    return undefined
  }
}

/** Branches with a file each, and a merge request of each; every other is to be squashed, every third to go with its merge. */
async function openRequests(server: Running, repo: Repo, round: number): Promise<void> {
  for (let i = 0; i < REQUESTS; i += 1) {
    const branch = `topic-${round}-${i}`
    await call(server, repo, 'POST /repository/branches', { branch, ref: 'main' })
    assert.ok(await commitFile(server, repo, branch, branch))
    const made = await call(server, repo, 'POST /merge_requests', {
      source_branch: branch,
      target_branch: 'main',
      title: branch,
      squash: i % 2 === 0,
      remove_source_branch: i % 3 === 0,
    })
    assert.equal(made?.status, 201)
  }
}

async function listAll(server: Running, repo: Repo): Promise<Shown[]> {
  const all: Shown[] = []
  for (let page = 1; ; page += 1) {
    const answer = await call(server, repo, `GET /merge_requests?per_page=100&sort=asc&page=${page}`)
    const shown = answer?.body as Shown[]
    all.push(...shown)
    if (shown.length < 100) return all
  }
}

/** A merged request is in the branch once, and a commit in the branch belongs to a merged request. */
function assertAgree(repo: Repo, all: readonly Shown[]): void {
  const files = new Set(gitLines(repo.directory, ['ls-tree', '-r', '--name-only', 'main']))
  const line = gitLines(repo.directory, ['log', '--first-parent', '--format=%H', 'main'])
  for (const one of all) {
    assert.equal(one.state === 'merged', files.has(one.source_branch), `!${one.iid} is ${one.state}`)
    if (one.state !== 'merged') continue
    assert.ok(one.merge_commit_sha !== null && line.includes(one.merge_commit_sha))
    assert.ok(one.merge_user)
    const [, second] = gitText(repo.directory, ['show', '-s', '--format=%P', one.merge_commit_sha]).split(' ')
    if (one.squash_commit_sha !== null) assert.equal(second, one.squash_commit_sha)
  }
  assert.equal(line.length, 1 + all.filter(({ state }) => state === 'merged').length)
}

test('a merge that a kill interrupts has happened in refs and rows, or in neither', async (t) => {
  let server = await place.serve()
  await place.json(['group', 'create', '--path', 'harbour', '--visibility', 'public'])
  const repo = await makeRepo(place, 'harbour/app', TOKEN)
  assert.ok(await commitFile(server, repo, 'main', 'first'))
  const acknowledged = new Set<number>()
  for (let round = 0; round < KILLS; round += 1) {
    await openRequests(server, repo, round)
    const open = (await listAll(server, repo)).filter(({ state }) => state === 'opened')
    const known = acknowledged.size
    const merging = open.map(async ({ iid }) => {
      const answer = await call(server, repo, `PUT /merge_requests/${iid}/merge`)
      if (answer?.status === 200) acknowledged.add(iid)
    })
    await until('a merge is acknowledged', () => acknowledged.size > known)
    await sleep((round * 23) % 70)
    await killServer(place, server, { withDatabase: round % 2 === 1 })
    await Promise.all(merging)

    server = await place.serve()
    const all = await listAll(server, repo)
    assertAgree(repo, all)
    const merged = new Set(all.filter(({ state }) => state === 'merged').map(({ iid }) => iid))
    assert.deepEqual(
      [...acknowledged].filter((iid) => !merged.has(iid)),
      [],
      'acknowledged and lost',
    )
    t.diagnostic(`${merged.size} of ${all.length} are merged, ${acknowledged.size} were acknowledged`)
  }
  for (const { iid, state } of await listAll(server, repo))
    if (state === 'opened')
      assert.equal((await call(server, repo, `PUT /merge_requests/${iid}/merge`))?.status, 200)
  assertAgree(repo, await listAll(server, repo))
  assert.equal((await server.stop()).code, 0)
  gitText(repo.directory, ['fsck', '--strict', '--no-dangling'])
})
