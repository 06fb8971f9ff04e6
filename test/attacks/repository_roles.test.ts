import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { operations } from '../../src/areas/index.ts'
import { repositoryPath } from '../../src/core/projects.ts'
import type { Ref } from '../../src/git/refs/refs.ts'
import type { Repository } from '../../src/git/repository.ts'
import type { NamedOperation } from '../../src/http/operation.ts'
import { scratch, writeHistory } from '../support/git_fixtures.ts'
import { CALLERS, inRepository, openPlace, roleTables, type Place } from '../support/role_tables.ts'
import { contents, sharedWorld } from '../support/stand.ts'
import type { Answered } from '../support/world.ts'

// AUTH-08 for what a repository holds: `main` is protected for maintainers, every other branch is open to developers.

const SUBMODULE = 'f'.repeat(40)
const BODIES: Readonly<Record<string, object>> = {
  createCommit: {
    branch: 'work',
    commit_message: 'm',
    actions: [{ action: 'create', file_path: 'n', content: 'n' }],
  },
  cherryPickCommit: { branch: 'work' },
  revertCommit: { branch: 'work' },
  createCommitComment: { note: 'Looks right' },
  createCommitStatus: { state: 'success' },
  createBranch: { branch: 'fresh', ref: 'main' },
  createTag: { tag_name: 'fresh', ref: 'main' },
  createFile: { branch: 'work', commit_message: 'm', content: 'n' },
  updateFile: { branch: 'work', commit_message: 'm', content: 'n' },
  deleteFile: { branch: 'work', commit_message: 'm' },
  updateSubmodule: { branch: 'work', commit_sha: 'e'.repeat(40) },
  createProtectedBranch: { name: 'stable/*' },
  updateProtectedBranch: { allow_force_push: true },
}
const QUERIES: Readonly<Record<string, Readonly<Record<string, string | string[]>>>> = {
  getFile: { ref: 'work' },
  getRawFile: { ref: 'work' },
  getComparison: { from: 'main', to: 'work' },
  getMergeBase: { 'refs[]': ['main', 'work'] },
}
const PATHS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cherryPickCommit: { sha: 'picked' },
  createFile: { file_path: 'n' },
}

interface Stand extends Place {
  readonly repository: Repository
  readonly refs: readonly Ref[]
  readonly blob: string
}
const stands = new Map<string, Stand>()
const signature = { name: 'A', email: 'a@x', date: { seconds: 1_700_000_000, offset: '+0000' } }

const world = sharedWorld(async (here) => {
  const source = join(scratch(), 'source.git')
  writeHistory(source, 60, 1)
  for (const visibility of ['private', 'public'] as const) {
    const place = await openPlace(here, visibility, source)
    const repository = here.opened.instance.git.repository(repositoryPath(place.project.id))
    const main = (await repository.ref('refs/heads/main')) ?? ''
    const onMain = async (path: string): Promise<string> => {
      const changes = [
        { action: 'create', path, content: Buffer.from(path) },
        { action: 'link', path: `lib-${path}`, sha: SUBMODULE },
      ] as const
      const about = { parents: [main], author: signature, committer: signature, message: path }
      return (await repository.writeChanges(main, changes, about)).commit
    }
    const [work, picked] = [await onMain('work'), await onMain('picked')]
    const moves = { 'heads/work': work, 'heads/picked': picked, 'heads/old': main, 'tags/known': main }
    await repository.moveRefs(
      Object.entries(moves).map(([ref, to]) => ({ ref: `refs/${ref}`, from: undefined, to })),
    )
    const refs = await refsOf(repository)
    const blob = (await repository.entry(work, 'work'))?.id ?? ''
    stands.set(visibility, { ...place, repository, refs, blob })
  }
})

async function refsOf(repository: Repository): Promise<Ref[]> {
  return [...(await repository.refs('refs/heads/')), ...(await repository.refs('refs/tags/'))]
}

/** The same refs and records before every call, whatever the last one did. */
async function stage({ repository, refs, project }: Stand): Promise<void> {
  const now = new Map((await refsOf(repository)).map(({ name, id }) => [name, id]))
  const wanted = new Map(refs.map(({ name, id }) => [name, id]))
  const names = [...new Set([...now.keys(), ...wanted.keys()])]
  await repository.moveRefs(
    names
      .map((ref) => ({ ref, from: now.get(ref), to: wanted.get(ref) }))
      .filter(({ from, to }) => from !== to),
  )
  await world().make.sql(`
    delete from commit_notes; delete from commit_statuses; delete from pipelines;
    delete from protected_branches where project_id = ${project.id};
    with p as (insert into protected_branches (project_id, name) values (${project.id}, 'main') returning id)
    insert into protected_branch_levels (protected_branch_id, action, access_level)
    select id, action, 40 from p, (values ('push'), ('merge')) as k (action)`)
}

function callAs(stand: Stand, op: NamedOperation, who: string): Promise<Answered> {
  const fill: Readonly<Record<string, string>> = {
    id: String(stand.project.id),
    sha: op.area === 'blobs' ? stand.blob : 'work',
    branch: 'work',
    tag_name: 'known',
    file_path: 'work',
    submodule: 'lib-work',
    format: 'tar',
    name: 'main',
    ...PATHS[op.name],
  }
  const path = op.path.replaceAll(/:(\w+)/g, (_all, name: string) => encodeURIComponent(fill[name] ?? ''))
  const body = BODIES[op.name]
  return world().call(op.method, path, {
    as: stand.callers.get(who),
    ...(body && { body }),
    ...(QUERIES[op.name] && { query: QUERIES[op.name] }),
  })
}

const everything = async ({ repository }: Stand): Promise<string> =>
  JSON.stringify(await refsOf(repository)) + (await contents(world()))

suite('every operation on a repository for every role', () => {
  for (const [visibility, table] of Object.entries(roleTables))
    for (const op of operations.filter(inRepository))
      test(`AUTH-08: ${op.name} where all is ${visibility}`, async () => {
        const stand = stands.get(visibility)
        if (stand === undefined) throw new Error(`there is nothing ${visibility}`)
        const statuses: number[] = []
        for (const who of CALLERS) {
          await stage(stand)
          const before = await everything(stand)
          const answer = await callAs(stand, op, who)
          statuses.push(answer.status)
          const changed: boolean = (await everything(stand)) !== before
          assert.equal(changed, answer.status < 400 && op.method !== 'GET', `${who}: ${answer.text}`)
        }
        assert.deepEqual(statuses, table.get(op.name))
      })
})
