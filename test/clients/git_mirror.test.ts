import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openGitClient, type GitClient } from '../support/git_client.ts'
import {
  cloneMaker,
  freshPath,
  refsOf,
  remoteOf,
  tip,
  verdicts,
  type MakeClone,
} from '../support/git_clones.ts'
import { gitText, scratch, writeHistory } from '../support/git_fixtures.ts'
import { openWorld, type World } from '../support/world.ts'

// Repositories with refs beside branches and tags move in whole.

let world: World
let client: GitClient
let source: string
let clone: MakeClone
before(async () => {
  world = await openWorld()
  client = await openGitClient(world)
  source = join(scratch(), 'source.git')
  writeHistory(source, 60, 3)
  clone = cloneMaker(world, client, source)
})
after(() => world.close())

const BESIDE = ['refs/notes/commits', 'refs/notes/semantic-release-v1.0.0', 'refs/pull/1/head']
const OWN = ['refs/merge-requests/1/head', 'refs/keep-around/x', 'refs/pipelines/1']

test('a mirror of another server moves in with all its refs but those of the server', async () => {
  const origin = join(scratch(), 'origin.git')
  await client.git(client.place, 'clone', '--quiet', '--mirror', source, origin)
  const head = gitText(origin, ['rev-parse', 'main'])
  for (const ref of [...BESIDE, ...OWN, 'refs/remotes/origin/main'])
    gitText(origin, ['update-ref', ref, head])
  const project = await world.make.project({ repository: 'empty' })
  const owner = await world.make.memberOf('maintainer', { project })
  const ran = await client.run(origin, [
    'push',
    '--porcelain',
    '--mirror',
    client.url(project.full_path, owner),
  ])
  assert.deepEqual(
    verdicts(ran).filter((line) => line.startsWith('!')),
    OWN.toSorted().map((ref) => `!\t${ref}:${ref}\t[remote rejected] (deny updating a hidden ref)`),
  )
  const remote = remoteOf(world, project)
  assert.deepEqual(
    refsOf(remote),
    refsOf(origin).filter((line) => !OWN.some((own) => line.endsWith(own))),
  )
  const again = freshPath(client)
  await client.git(client.place, 'clone', '--quiet', '--mirror', client.url(project.full_path, owner), again)
  assert.deepEqual(refsOf(again), refsOf(remote))
})

test('an atomic push with a ref of the server moves nothing', async () => {
  const one = await clone('developer')
  const before = refsOf(one.remote)
  const ran = await one.push('--atomic', 'origin', 'HEAD:refs/heads/x', 'HEAD:refs/keep-around/x')
  assert.equal(ran.code, 1)
  assert.deepEqual(refsOf(one.remote), before)
})

test('notes are pushed, fetched, moved and deleted by a Developer', async () => {
  const one = await clone('developer')
  await one.git('notes', 'add', '-m', 'released', 'HEAD')
  assert.equal((await one.push('origin', 'refs/notes/commits')).code, 0)
  assert.equal(tip(one.remote, 'refs/notes/commits'), await one.git('rev-parse', 'refs/notes/commits'))
  const other = await clone('developer', { project: one.project })
  await other.git('fetch', '--quiet', 'origin', 'refs/notes/*:refs/notes/*')
  assert.equal(await other.git('notes', 'show', 'HEAD'), 'released')
  await one.git('notes', 'append', '-m', 'and again', 'HEAD')
  assert.equal((await one.push('origin', 'refs/notes/commits')).code, 0)
  assert.equal((await one.push('--delete', 'origin', 'refs/notes/commits')).code, 0)
  assert.deepEqual(
    refsOf(one.remote).filter((line) => /notes/.test(line)),
    [],
  )
})

test('a replacement of an object that somebody pushed changes no answer', async () => {
  const one = await clone('developer')
  const head = await one.git('rev-parse', 'HEAD')
  const parents = (await one.git('show', '--no-patch', '--format=%P', head)).split(' ')
  const older = await one.git('rev-parse', 'HEAD~5')
  await one.git('replace', head, older)
  assert.equal((await one.push('origin', 'refs/replace/*')).code, 0)
  assert.equal(tip(one.remote, `refs/replace/${head}`), older)
  const { body } = await world.get(`/projects/${one.project.id}/repository/commits/main`, one.as)
  assert.deepEqual((body as { parent_ids: string[] }).parent_ids, parents)
  const fetched = freshPath(client)
  await client.git(client.place, 'clone', '--quiet', client.url(one.project.full_path, one.as), fetched)
  assert.equal(await client.git(fetched, 'rev-parse', 'HEAD~1'), parents[0])
})
