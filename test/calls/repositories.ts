import { repositoryPath } from '../../src/core/places/projects.ts'
import type { Ref } from '../../src/git/refs/refs.ts'
import type { Repository } from '../../src/git/repository.ts'
import type { World } from '../support/world.ts'
import type { Calls } from './calls.ts'
import type { Scene } from './scene.ts'

interface Stand {
  readonly repository: Repository
  readonly refs: readonly Ref[]
  readonly blob: string
}
const stands = new WeakMap<Scene, Stand>()
const signature = { name: 'A', email: 'a@x', date: { seconds: 1_700_000_000, offset: '+0000' } }
const SUBMODULE = 'f'.repeat(40)

/** Branches `work` and `picked`, each a commit ahead of `main`. */
async function openStand(world: World, { project }: Scene): Promise<Stand> {
  const repository = world.opened.instance.git.repository(repositoryPath(project.id))
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
  const blob = (await repository.entry(work, 'work'))?.id ?? ''
  return { repository, refs: await refsOf(repository), blob }
}

async function refsOf(repository: Repository): Promise<Ref[]> {
  return [...(await repository.refs('refs/heads/')), ...(await repository.refs('refs/tags/'))]
}

async function restore({ repository, refs }: Stand): Promise<void> {
  const now = new Map((await refsOf(repository)).map(({ name, id }) => [name, id]))
  const wanted = new Map(refs.map(({ name, id }) => [name, id]))
  await repository.moveRefs(
    [...new Set([...now.keys(), ...wanted.keys()])]
      .map((ref) => ({ ref, from: now.get(ref), to: wanted.get(ref) }))
      .filter(({ from, to }) => from !== to),
  )
}

/** Operations of repositories: `main` is protected for maintainers, every other branch is open to developers. */
export const repositories: Calls = {
  inPrivate: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listCommits                404 404 404 403 403 200 200 200 200 200 404
  getCommit                  404 404 404 403 403 200 200 200 200 200 404
  getCommitSequence          404 404 404 403 403 200 200 200 200 200 404
  listCommitReferences       404 404 404 403 403 200 200 200 200 200 404
  listCommitComments         404 404 404 403 403 200 200 200 200 200 404
  listCommitDiffs            404 404 404 403 403 200 200 200 200 200 404
  listCommitStatuses         404 404 404 403 403 200 200 200 200 200 404
  getBranch                  404 404 404 403 403 200 200 200 200 200 404
  listBranches               404 404 404 403 403 200 200 200 200 200 404
  getTag                     404 404 404 403 403 200 200 200 200 200 404
  listTags                   404 404 404 403 403 200 200 200 200 200 404
  getFile                    404 404 404 403 403 200 200 200 200 200 404
  getRawFile                 404 404 404 403 403 200 200 200 200 200 404
  listTree                   404 404 404 403 403 200 200 200 200 200 404
  getBlob                    404 404 404 403 403 200 200 200 200 200 404
  getRawBlob                 404 404 404 403 403 200 200 200 200 200 404
  getComparison              404 404 404 403 403 200 200 200 200 200 404
  getMergeBase               404 404 404 403 403 200 200 200 200 200 404
  getArchive                 404 404 404 403 403 200 200 200 200 200 404
  getUnnamedArchive          404 404 404 403 403 200 200 200 200 200 404
  getCommitSignature         404 404 404 403 403 404 404 404 404 404 404
  getTagSignature            404 404 404 403 403 404 404 404 404 404 404
  createCommitComment        404 404 404 403 403 201 201 201 201 201 404
  createCommit               404 404 404 403 403 403 201 201 201 201 404
  cherryPickCommit           404 404 404 403 403 403 201 201 201 201 404
  revertCommit               404 404 404 403 403 403 201 201 201 201 404
  createCommitStatus         404 404 404 403 403 403 201 201 201 201 404
  createBranch               404 404 404 403 403 403 201 201 201 201 404
  deleteBranch               404 404 404 403 403 403 204 204 204 204 404
  deleteMergedBranches       404 404 404 403 403 403 202 202 202 202 404
  createTag                  404 404 404 403 403 403 201 201 201 201 404
  deleteTag                  404 404 404 403 403 403 204 204 204 204 404
  createFile                 404 404 404 403 403 403 201 201 201 201 404
  updateFile                 404 404 404 403 403 403 200 200 200 200 404
  deleteFile                 404 404 404 403 403 403 204 204 204 204 404
  updateSubmodule            404 404 404 403 403 403 200 200 200 200 401
  listProtectedBranches      404 404 404 403 403 403 200 200 200 200 401
  getProtectedBranch         404 404 404 403 403 403 200 200 200 200 401
  createProtectedBranch      404 404 404 403 403 403 403 201 201 201 401
  updateProtectedBranch      404 404 404 403 403 403 403 200 200 200 401
  deleteProtectedBranch      404 404 404 403 403 403 403 204 204 204 401
`,
  inPublic: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listCommits                200 200 200 200 200 200 200 200 200 200 200
  getCommit                  200 200 200 200 200 200 200 200 200 200 200
  getCommitSequence          200 200 200 200 200 200 200 200 200 200 200
  listCommitReferences       200 200 200 200 200 200 200 200 200 200 200
  listCommitComments         200 200 200 200 200 200 200 200 200 200 200
  listCommitDiffs            200 200 200 200 200 200 200 200 200 200 200
  listCommitStatuses         200 200 200 200 200 200 200 200 200 200 200
  getBranch                  200 200 200 200 200 200 200 200 200 200 200
  listBranches               200 200 200 200 200 200 200 200 200 200 200
  getTag                     200 200 200 200 200 200 200 200 200 200 200
  listTags                   200 200 200 200 200 200 200 200 200 200 200
  getFile                    200 200 200 200 200 200 200 200 200 200 200
  getRawFile                 200 200 200 200 200 200 200 200 200 200 200
  listTree                   200 200 200 200 200 200 200 200 200 200 200
  getBlob                    200 200 200 200 200 200 200 200 200 200 200
  getRawBlob                 200 200 200 200 200 200 200 200 200 200 200
  getComparison              200 200 200 200 200 200 200 200 200 200 200
  getMergeBase               200 200 200 200 200 200 200 200 200 200 200
  getArchive                 200 200 200 200 200 200 200 200 200 200 200
  getUnnamedArchive          200 200 200 200 200 200 200 200 200 200 200
  getCommitSignature         404 404 404 404 404 404 404 404 404 404 404
  getTagSignature            404 404 404 404 404 404 404 404 404 404 404
  createCommitComment        201 201 201 201 201 201 201 201 201 201 401
  createCommit               403 403 403 403 403 403 201 201 201 201 401
  cherryPickCommit           403 403 403 403 403 403 201 201 201 201 401
  revertCommit               403 403 403 403 403 403 201 201 201 201 401
  createCommitStatus         403 403 403 403 403 403 201 201 201 201 401
  createBranch               403 403 403 403 403 403 201 201 201 201 401
  deleteBranch               403 403 403 403 403 403 204 204 204 204 401
  deleteMergedBranches       403 403 403 403 403 403 202 202 202 202 401
  createTag                  403 403 403 403 403 403 201 201 201 201 401
  deleteTag                  403 403 403 403 403 403 204 204 204 204 401
  createFile                 403 403 403 403 403 403 201 201 201 201 401
  updateFile                 403 403 403 403 403 403 200 200 200 200 401
  deleteFile                 403 403 403 403 403 403 204 204 204 204 401
  updateSubmodule            403 403 403 403 403 403 200 200 200 200 401
  listProtectedBranches      403 403 403 403 403 403 200 200 200 200 401
  getProtectedBranch         403 403 403 403 403 403 200 200 200 200 401
  createProtectedBranch      403 403 403 403 403 403 403 201 201 201 401
  updateProtectedBranch      403 403 403 403 403 403 403 200 200 200 401
  deleteProtectedBranch      403 403 403 403 403 403 403 204 204 204 401
`,
  bodies: {
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
  },
  queries: {
    getFile: { ref: 'work' },
    getRawFile: { ref: 'work' },
    getComparison: { from: 'main', to: 'work' },
    getMergeBase: { 'refs[]': ['main', 'work'] },
  },
  set: async (world, scene, operation) => {
    const stand = stands.get(scene) ?? (await openStand(world, scene))
    stands.set(scene, stand)
    await restore(stand)
    const { id } = scene.project
    await world.make.sql(`
      delete from noteable_commits where project_id = ${id};
      delete from commit_statuses where project_id = ${id};
      delete from pipelines where project_id = ${id};
      delete from protected_branches where project_id = ${id};
      with p as (insert into protected_branches (project_id, name) values (${id}, 'main') returning id)
      insert into protected_branch_levels (protected_branch_id, action, access_level)
      select id, action, 40 from p, (values ('push'), ('merge')) as k (action)`)
    return {
      sha: operation === 'cherryPickCommit' ? 'picked' : operation.endsWith('Blob') ? stand.blob : 'work',
      branch: 'work',
      tag_name: 'known',
      file_path: operation === 'createFile' ? 'n' : 'work',
      submodule: 'lib-work',
      format: 'tar',
      name: 'main',
    }
  },
  see: async (world, { project }) =>
    JSON.stringify(await refsOf(world.opened.instance.git.repository(repositoryPath(project.id)))),
}
