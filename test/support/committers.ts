/* Clients of the real program that write commits, and what its repository says came of them. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { gitLines } from './git_fixtures.ts'
import type { Place, Running } from './program.ts'

export interface Acknowledged {
  readonly sha: string
  /** The file that the commit made; undefined for picks and reverts. */
  readonly file?: string
}

export interface Repo {
  readonly id: number
  readonly directory: string
  readonly token: string
}

/** A project, empty or with a history, made by the command line, and where its repository lies. */
export async function makeRepo(place: Place, path: string, token: string, source?: string): Promise<Repo> {
  const args = [
    '--path',
    path,
    '--visibility',
    'public',
    ...(source === undefined ? [] : ['--import', source]),
  ]
  const id = Number((await place.json(['project', 'create', ...args]))['id'])
  const folder = (id % 256).toString(16).padStart(2, '0')
  return { id, token, directory: join(place.dataDir, 'repositories', folder, `${id}.git`) }
}

/** The server's answer; undefined when the connection was lost. */
export async function ask(
  server: Running,
  { id, token }: Repo,
  path: string,
  body: object,
): Promise<{ status: number; body: Record<string, unknown> } | undefined> {
  try {
    const answer = await fetch(`${server.api}/projects/${id}/repository${path}`, {
      method: 'POST',
      headers: { 'private-token': token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  } catch {
    return undefined
  }
}

/** Commits a new file; undefined when the server went away before it answered in full. */
export async function commitFile(
  server: Running,
  repo: Repo,
  branch: string,
  file: string,
): Promise<Acknowledged | undefined> {
  const actions = [{ action: 'create', file_path: file, content: `${file}\n` }]
  const answer = await ask(server, repo, '/commits', { branch, commit_message: file, actions, stats: false })
  if (answer === undefined) return undefined
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return { sha: String(answer.body['id']), file }
}

/** Newest first, each with its parents. */
export const historyOf = (directory: string, branch: string): { sha: string; parents: string[] }[] =>
  gitLines(directory, ['log', '--format=%H %P', `refs/heads/${branch}`]).map((line) => {
    const [sha = '', ...parents] = line.split(' ').filter(Boolean)
    return { sha, parents }
  })

/** One commit follows the other, all that was acknowledged is among them, and its files are there. */
export function assertKept(directory: string, branch: string, acknowledged: readonly Acknowledged[]): number {
  const history = historyOf(directory, branch)
  for (const [i, { parents }] of history.entries()) {
    const next = history[i + 1]
    assert.deepEqual(parents, next === undefined ? [] : [next.sha])
  }
  const known = new Set(history.map(({ sha }) => sha))
  assert.deepEqual(
    acknowledged.filter(({ sha }) => !known.has(sha)),
    [],
    'acknowledged and lost',
  )
  const files = new Set(gitLines(directory, ['ls-tree', '-r', '--name-only', `refs/heads/${branch}`]))
  assert.deepEqual(
    acknowledged.filter(({ file }) => file !== undefined && !files.has(file)),
    [],
    'a file is lost',
  )
  return history.length
}
