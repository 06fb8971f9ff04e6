import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gitText } from '../../../test/support/git_fixtures.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import { treeBytes } from '../../git/objects/tree_lines.ts'
import type { Project } from '../../db/schema/tables.ts'

const world = sharedWorld()

/** A project whose branch `main` has one commit with a root directory of so many files. */
async function withFiles(count: number): Promise<Project> {
  const { make, opened } = world()
  const project = await make.project({ visibility: 'public', repository: 'empty' })
  const directory = opened.instance.git.directory(repositoryPath(project.id))
  const git = (args: readonly string[], input?: string | Buffer): string => gitText(directory, args, input)
  const blob = git(['hash-object', '-w', '--stdin'], 'x')
  const lines = Array.from({ length: count }, (_, at) => ({ mode: '100644', key: `${1e9 + at}`, id: blob }))
  const tree = git(['hash-object', '-t', 'tree', '-w', '--stdin'], treeBytes(lines))
  git(['update-ref', 'refs/heads/main', git(['commit-tree', tree, '-m', 'Many files'])])
  return project
}

test('reads below a tree of more bytes than the server takes are refused with 413', async () => {
  const project = await withFiles(1_400_000)
  for (const path of [
    'tree',
    'tree?recursive=true',
    'commits/main',
    'commits?with_stats=true',
    'tree?path=1000000000',
    'files/1000000000?ref=main',
    'files/1000000000/raw?ref=main',
  ]) {
    const answer = await world().get(`/projects/${project.id}/repository/${path}`)
    assert.deepEqual([answer.status, answer.body], [413, { message: '413 Request Entity Too Large' }], path)
  }
  for (const path of ['commits', 'branches', 'commits/main?stats=false'])
    assert.equal((await world().get(`/projects/${project.id}/repository/${path}`)).status, 200, path)
})

test('a directory of 200,000 files is listed while the event loop turns', async () => {
  const project = await withFiles(200_000)
  let turns = 0
  let isAnswered = false
  const turn = (): void => {
    turns += 1
    if (!isAnswered) setImmediate(turn)
  }
  setImmediate(turn)
  const answer = await world().get(`/projects/${project.id}/repository/tree`)
  isAnswered = true
  assert.deepEqual([answer.status, (answer.body as unknown[]).length], [200, 20])
  assert.ok(turns >= 20, `${turns} turns`)
})
