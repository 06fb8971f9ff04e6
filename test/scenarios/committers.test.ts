/* Many clients commit to one branch at once, through the real program. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gitLines, gitText } from '../support/git_fixtures.ts'
import { assertKept, commitFile, makeRepo, type Acknowledged } from '../support/committers.ts'
import { openReadyPlace, type Place, type Running } from '../support/program.ts'

const TOKEN = 'a-token-of-sixteen-clients'
const CLIENTS = 16
/** Milliseconds. */
const SPAN = 2_000

let place: Place
let server: Running
before(async () => {
  place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: TOKEN, LOG_LEVEL: 'warn' })
  server = await place.serve()
  await place.json(['group', 'create', '--path', 'harbour', '--visibility', 'public'])
})
after(() => place.clear())

async function commitAlways(
  repo: Awaited<ReturnType<typeof makeRepo>>,
  client: number,
  until: number,
): Promise<Acknowledged[]> {
  const mine: Acknowledged[] = []
  while (performance.now() < until) {
    const made = await commitFile(server, repo, 'main', `client-${client}/${mine.length}`)
    assert.ok(made)
    mine.push(made)
  }
  return mine
}

test('sixteen clients commit to one branch: one line, nothing lost, nobody left out', async (t) => {
  const repo = await makeRepo(place, 'harbour/busy', TOKEN)
  const first = await commitFile(server, repo, 'main', 'first')
  assert.ok(first)
  const until = performance.now() + SPAN
  const each = await Promise.all(Array.from({ length: CLIENTS }, (_, i) => commitAlways(repo, i, until)))
  assert.ok(each.every((mine) => mine.length > 0))
  const acknowledged = [first, ...each.flat()]
  assert.equal(assertKept(repo.directory, 'main', acknowledged), acknowledged.length)
  // Beside a server that packs anew what is there, git's own check misses the packs that go meanwhile.
  assert.equal((await server.stop()).code, 0)
  gitText(repo.directory, ['fsck', '--strict', '--no-dangling'])
  server = await place.serve()
  t.diagnostic(`${acknowledged.length} commits by ${CLIENTS} clients in ${SPAN} ms`)
  t.diagnostic(
    `each between ${Math.min(...each.map((mine) => mine.length))} and ${Math.max(...each.map((mine) => mine.length))}`,
  )
})

test('COM-14: fifty commits at once, each of a file of its own, are all acknowledged and all there', async () => {
  const repo = await makeRepo(place, 'harbour/fifty', TOKEN)
  // The first of them makes the branch.
  const made = await Promise.all(
    Array.from({ length: 50 }, (_, i) => commitFile(server, repo, 'main', `file-${i}`)),
  )
  const acknowledged = made.filter((one) => one !== undefined)
  assert.equal(acknowledged.length, 50)
  assert.equal(assertKept(repo.directory, 'main', acknowledged), 50)
})

test('fifty commits at once on branches of an empty repository: what is acknowledged is there, and nothing else', async () => {
  const repo = await makeRepo(place, 'harbour/branches', TOKEN)
  const made = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      commitFile(server, repo, `branch-${i}`, 'file').catch((error: unknown) => error),
    ),
  )
  // An empty repository takes as first whoever comes first; for who comes after, there is no such branch to be on.
  const shas = made.flatMap((one) =>
    one !== undefined && typeof one === 'object' && 'sha' in (one as object)
      ? [(one as Acknowledged).sha]
      : [],
  )
  assert.ok(shas.length > 0)
  const tips = gitLines(repo.directory, ['for-each-ref', '--format=%(objectname)', 'refs/heads/'])
  assert.deepEqual(tips.toSorted(), shas.toSorted())
})
