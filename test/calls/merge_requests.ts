import type { Change } from '../../src/git/objects/changes.ts'
import { repositoryPath } from '../../src/core/places/projects.ts'
import { rowsOf } from '../support/rows.ts'
import type { World } from '../support/world.ts'
import type { Calls } from './calls.ts'
import type { Scene } from './scene.ts'

/** A job that merge requests run. */
const CONFIG = 'build: { script: make, rules: [{ when: always }] }'
const BRANCHES = ['main', 'topic', 'other'] as const

/** `topic` and `other` as they were first, each a commit ahead of `main`. */
const stands = new WeakMap<Scene, Readonly<Record<string, string>>>()

async function standOf(world: World, scene: Scene): Promise<Readonly<Record<string, string>>> {
  const known = stands.get(scene)
  if (known !== undefined) return known
  const repository = world.opened.instance.git.repository(repositoryPath(scene.project.id))
  const main = (await repository.ref('refs/heads/main')) ?? ''
  const person = { name: 'A', email: 'a@x', date: { seconds: 1_700_000_000, offset: '+0000' } }
  const commitOn = async (path: string): Promise<string> => {
    const about = { parents: [main], author: person, committer: person, message: path }
    const create = (path: string, text: string): Change => ({
      action: 'create',
      path,
      content: Buffer.from(text),
    })
    const changes = [create(path, path), create('.gitlab-ci.yml', CONFIG)]
    return (await repository.writeChanges(main, changes, about)).commit
  }
  const stand = { main, topic: await commitOn('topic'), other: await commitOn('other') }
  stands.set(scene, stand)
  return stand
}

const refsOf = async (world: World, { project }: Scene): Promise<[string, string][]> => {
  const repository = world.opened.instance.git.repository(repositoryPath(project.id))
  const refs = [...(await repository.refs('refs/heads/')), ...(await repository.refs('refs/merge-requests/'))]
  return refs.map(({ name, id }) => [name, id])
}

async function restore(world: World, scene: Scene): Promise<void> {
  const repository = world.opened.instance.git.repository(repositoryPath(scene.project.id))
  const stand = await standOf(world, scene)
  const now = new Map(await refsOf(world, scene))
  const wanted = new Map(BRANCHES.map((name) => [`refs/heads/${name}`, stand[name]]))
  const names = [
    ...wanted.keys(),
    ...[...now.keys()].filter((name) => name.startsWith('refs/merge-requests/')),
  ]
  const moves = names.map((ref) => ({ ref, from: now.get(ref), to: wanted.get(ref) }))
  await repository.moveRefs(moves.filter(({ from, to }) => from !== to))
}

/** Another commit than its branch has, for the branch to be rebased onto. */
async function moveMain(world: World, scene: Scene): Promise<void> {
  const repository = world.opened.instance.git.repository(repositoryPath(scene.project.id))
  const { main, other } = await standOf(world, scene)
  await repository.moveRefs([{ ref: 'refs/heads/main', from: main, to: other }])
}

/** One open merge request of `topic` into `main`, which is protected for maintainers; the group's owner wrote it. */
export const mergeRequests: Calls = {
  inPrivate: `
                                none   0   5  10  15  20  30  40  50 adm nobody
  listProjectMergeRequests      404 404 404 403 403 200 200 200 200 200 404
  listGroupMergeRequests        404 404 200 200 200 200 200 200 200 200 404
  listMergeRequests             200 200 200 200 200 200 200 200 200 200 401
  getMergeRequest               404 404 404 404 404 200 200 200 200 200 404
  createMergeRequest            404 404 404 403 403 403 201 201 201 201 404
  updateMergeRequest            404 404 404 404 404 403 200 200 200 200 404
  deleteMergeRequest            404 404 404 403 403 403 403 403 204 204 404
  mergeMergeRequest             404 404 404 404 404 401 401 200 200 200 404
  cancelAutomaticMerge          404 404 404 404 404 401 401 201 201 201 404
  rebaseMergeRequest            404 404 404 404 404 403 202 202 202 202 404
  setMergeRequestTimeEstimate   404 404 404 403 403 403 200 200 200 200 401
  removeMergeRequestTimeEstimate 404 404 404 403 403 403 200 200 200 200 401
  addMergeRequestSpentTime      404 404 404 403 403 403 201 201 201 201 401
  removeMergeRequestSpentTime   404 404 404 403 403 403 200 200 200 200 401
  getMergeRequestTimeStatistics 404 404 404 404 404 200 200 200 200 200 404
  listMergeRequestCommits       404 404 404 404 404 200 200 200 200 200 404
  getMergeRequestChanges        404 404 404 404 404 200 200 200 200 200 404
  listMergeRequestDiffs         404 404 404 404 404 200 200 200 200 200 404
  getMergeRequestRawDiffs       404 404 404 404 404 200 200 200 200 200 404
  listMergeRequestVersions      404 404 404 404 404 200 200 200 200 200 404
  getMergeRequestVersion        404 404 404 404 404 200 200 200 200 200 404
  listMergeRequestClosedIssues  404 404 404 404 404 200 200 200 200 200 404
  listMergeRequestPipelines     404 404 404 404 404 200 200 200 200 200 404
  createMergeRequestPipeline    404 404 404 403 403 403 200 200 200 200 401
  listMergeRequestParticipants  404 404 404 404 404 200 200 200 200 200 404
  listMergeRequestReviewers     404 404 404 404 404 200 200 200 200 200 404
  subscribeToMergeRequest       404 404 404 404 404 201 201 201 304 201 404
  unsubscribeFromMergeRequest   404 404 404 404 404 304 304 304 201 304 404
  getMergeRequestApprovals      404 404 404 404 404 200 200 200 200 200 404
  approveMergeRequest           404 404 404 403 403 403 201 201 201 201 404
  unapproveMergeRequest         404 404 404 403 403 403 201 201 201 201 404
  getProjectApprovalSettings    404 404 404 403 403 200 200 200 200 200 404
  updateProjectApprovalSettings 404 404 404 403 403 403 403 201 201 201 404
  listCommitMergeRequests       404 404 404 403 403 200 200 200 200 200 404
`,
  inPublic: `
                                none   0   5  10  15  20  30  40  50 adm nobody
  listProjectMergeRequests      200 200 200 200 200 200 200 200 200 200 200
  listGroupMergeRequests        200 200 200 200 200 200 200 200 200 200 200
  getMergeRequest               200 200 200 200 200 200 200 200 200 200 200
  createMergeRequest            403 403 403 403 403 403 201 201 201 201 401
  updateMergeRequest            403 403 403 403 403 403 200 200 200 200 401
  deleteMergeRequest            403 403 403 403 403 403 403 403 204 204 401
  mergeMergeRequest             401 401 401 401 401 401 401 200 200 200 401
  cancelAutomaticMerge          401 401 401 401 401 401 401 201 201 201 401
  rebaseMergeRequest            403 403 403 403 403 403 202 202 202 202 401
  setMergeRequestTimeEstimate   403 403 403 403 403 403 200 200 200 200 401
  removeMergeRequestTimeEstimate 403 403 403 403 403 403 200 200 200 200 401
  addMergeRequestSpentTime      403 403 403 403 403 403 201 201 201 201 401
  removeMergeRequestSpentTime   403 403 403 403 403 403 200 200 200 200 401
  getMergeRequestTimeStatistics 200 200 200 200 200 200 200 200 200 200 200
  listMergeRequestCommits       200 200 200 200 200 200 200 200 200 200 200
  getMergeRequestChanges        200 200 200 200 200 200 200 200 200 200 200
  listMergeRequestDiffs         200 200 200 200 200 200 200 200 200 200 200
  getMergeRequestRawDiffs       200 200 200 200 200 200 200 200 200 200 200
  listMergeRequestVersions      200 200 200 200 200 200 200 200 200 200 200
  getMergeRequestVersion        200 200 200 200 200 200 200 200 200 200 200
  listMergeRequestClosedIssues  200 200 200 200 200 200 200 200 200 200 200
  listMergeRequestPipelines     200 200 200 200 200 200 200 200 200 200 200
  createMergeRequestPipeline    403 403 403 403 403 403 200 200 200 200 401
  listMergeRequestParticipants  200 200 200 200 200 200 200 200 200 200 200
  listMergeRequestReviewers     200 200 200 200 200 200 200 200 200 200 200
  subscribeToMergeRequest       201 201 201 201 201 201 201 201 304 201 401
  unsubscribeFromMergeRequest   304 304 304 304 304 304 304 304 201 304 401
  getMergeRequestApprovals      200 200 200 200 200 200 200 200 200 200 200
  approveMergeRequest           403 403 403 403 403 403 201 201 201 201 401
  unapproveMergeRequest         403 403 403 403 403 403 201 201 201 201 401
  getProjectApprovalSettings    200 200 200 200 200 200 200 200 200 200 401
  updateProjectApprovalSettings 403 403 403 403 403 403 403 201 201 201 401
  listCommitMergeRequests       200 200 200 200 200 200 200 200 200 200 200
`,
  bodies: {
    createMergeRequest: { source_branch: 'other', target_branch: 'main', title: 'Another' },
    updateMergeRequest: { title: 'Changed' },
    setMergeRequestTimeEstimate: { duration: '2h' },
    addMergeRequestSpentTime: { duration: '30m' },
    updateProjectApprovalSettings: { reset_approvals_on_push: true },
  },
  set: async (world, scene, operation) => {
    await restore(world, scene)
    const { id } = scene.project
    const prepared =
      operation === 'unapproveMergeRequest'
        ? `insert into merge_request_approvals (merge_request_id, user_id)
           select m.id, u.id from merge_requests m, users u where m.project_id = ${id};`
        : operation === 'cancelAutomaticMerge'
          ? `insert into auto_merges (merge_request_id, head_sha)
             select m.id, m.head_sha from merge_requests m where m.project_id = ${id};`
          : ''
    await world.make.sql(`
      delete from merge_requests where project_id = ${id};
      delete from project_counters where project_id = ${id} and counts = 'merge_requests';
      delete from protected_branches where project_id = ${id};
      with p as (insert into protected_branches (project_id, name) values (${id}, 'main') returning id)
      insert into protected_branch_levels (protected_branch_id, action, access_level)
      select id, action, 40 from p, (values ('push'), ('merge')) as k (action)`)
    const made = await world.call('POST', `/projects/${id}/merge_requests`, {
      as: scene.callers.get('owner'),
      body: { source_branch: 'topic', target_branch: 'main', title: 'The topic' },
    })
    if (made.status !== 201) throw new Error(`${made.status} ${made.text}`)
    await world.make.sql(prepared)
    if (operation === 'rebaseMergeRequest') await moveMain(world, scene)
    const [version] = await rowsOf<{ id: number }>(
      world,
      'select d.id from merge_request_diffs d join merge_requests m on m.id = d.merge_request_id where m.project_id = $1',
      [id],
    )
    return { merge_request_iid: '1', version_id: String(version?.id), sha: 'topic' }
  },
  see: async (world, scene) => JSON.stringify(await refsOf(world, scene)),
}
