import type { Namespace, Project } from '../../src/db/schema.ts'
import type { NamedOperation } from '../../src/http/operation.ts'
import type { Someone } from './makers.ts'
import { rowsOf } from './rows.ts'
import type { World } from './world.ts'

// AUTH-08. Who may call what, written down from the contract before it is asked of the code: one line for each
// operation, one column for each level there is on the group, then an administrator and nobody.
export const CALLERS = [
  ...(['none', 'no_access', 'minimal_access', 'guest', 'planner', 'reporter'] as const),
  ...(['developer', 'maintainer', 'owner', 'admin', 'nobody'] as const),
]
const IN_PRIVATE = `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listCommits                404 404 404 403 403 200 200 200 200 200 404
  getCommit                  404 404 404 403 403 200 200 200 200 200 404
  listNamespaces             200 200 200 200 200 200 200 200 200 200 401
  getNamespace               404 404 200 200 200 200 200 200 200 200 401
  checkNamespaceExists       200 200 200 200 200 200 200 200 200 200 401
  listProjectAliases         403 403 403 403 403 403 403 403 403 200 401
  getProjectAlias            403 403 403 403 403 403 403 403 403 200 401
  createProjectAlias         403 403 403 403 403 403 403 403 403 201 401
  deleteProjectAlias         403 403 403 403 403 403 403 403 403 204 401
  getPlanLimits              403 403 403 403 403 403 403 403 403 200 401
  updatePlanLimits           403 403 403 403 403 403 403 403 403 200 401
  listGroupLabels            404 404 200 200 200 200 200 200 200 200 401
  getGroupLabel              404 404 200 200 200 200 200 200 200 200 401
  createGroupLabel           404 404 403 403 403 201 201 201 201 201 401
  updateGroupLabel           404 404 403 403 403 200 200 200 200 200 401
  updateGroupLabelByName     404 404 403 403 403 200 200 200 200 200 401
  deleteGroupLabel           404 404 403 403 403 204 204 204 204 204 401
  deleteGroupLabelByName     404 404 403 403 403 204 204 204 204 204 401
  subscribeToGroupLabel      404 404 201 201 201 201 201 201 201 201 401
  unsubscribeFromGroupLabel  404 404 201 201 201 201 201 201 201 201 401
  listGroups                 200 200 200 200 200 200 200 200 200 200 200
  getGroup                   404 404 200 200 200 200 200 200 200 200 404
  listGroupProjects          404 404 200 200 200 200 200 200 200 200 404
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
  getCurrentUser             200 200 200 200 200 200 200 200 200 200 401
  getMetadata                200 200 200 200 200 200 200 200 200 200 401
  getVersion                 200 200 200 200 200 200 200 200 200 200 401
  getPresentedToken          200 200 200 200 200 200 200 200 200 200 401
  listPersonalAccessTokens   200 200 200 200 200 200 200 200 200 200 401
  revokePresentedToken       204 204 204 204 204 204 204 204 204 204 401
  getPersonalAccessToken     401 401 401 401 401 401 401 401 200 200 401
  revokePersonalAccessToken  401 401 401 401 401 401 401 401 204 204 401
`
/** What is otherwise where group and project are public. */
const IN_PUBLIC = `
                            none   0   5  10  15  20  30  40  50 adm nobody
  listCommits                200 200 200 200 200 200 200 200 200 200 200
  getCommit                  200 200 200 200 200 200 200 200 200 200 200
  listGroupLabels            200 200 200 200 200 200 200 200 200 200 401
  getGroupLabel              200 200 200 200 200 200 200 200 200 200 401
  createGroupLabel           403 403 403 403 403 201 201 201 201 201 401
  updateGroupLabel           403 403 403 403 403 200 200 200 200 200 401
  updateGroupLabelByName     403 403 403 403 403 200 200 200 200 200 401
  deleteGroupLabel           403 403 403 403 403 204 204 204 204 204 401
  deleteGroupLabelByName     403 403 403 403 403 204 204 204 204 204 401
  subscribeToGroupLabel      201 201 201 201 201 201 201 201 201 201 401
  unsubscribeFromGroupLabel  201 201 201 201 201 201 201 201 201 201 401
  getGroup                   200 200 200 200 200 200 200 200 200 200 200
  listGroupProjects          200 200 200 200 200 200 200 200 200 200 200
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
`
const tableOf = (text: string): Map<string, number[]> =>
  new Map(
    text
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .map(([name = '', ...cells]) => [name, cells.map(Number)]),
  )
const inPrivate = tableOf(IN_PRIVATE)
/** Statuses by operation: all of them where group and project are private, and where they are public. */
export const roleTables = {
  private: inPrivate,
  public: new Map([...inPrivate, ...tableOf(IN_PUBLIC)]),
} as const

/** Whether an operation works on a repository, and so needs one that looks the same before every call. */
export const inRepository = ({ path }: NamedOperation): boolean =>
  /^\/projects\/:id\/(repository|statuses|protected_branches)(\/|$)/.test(path)

/** A group with a project in it, and somebody of every kind. */
export interface Place {
  readonly group: Namespace
  readonly project: Project
  readonly callers: ReadonlyMap<string, Someone | undefined>
  /** The id of the owner's token. */
  readonly ownersToken: number
}

export async function openPlace(
  world: World,
  visibility: 'private' | 'public',
  source: string,
): Promise<Place> {
  const { make } = world
  const group = await make.group({ visibility })
  const project = await make.project({ group, visibility, repository: source })
  const callers = new Map<string, Someone | undefined>([
    ['admin', await make.admin()],
    ['none', await make.user()],
    ['nobody', undefined],
  ])
  for (const role of CALLERS)
    if (role !== 'admin' && role !== 'none' && role !== 'nobody')
      callers.set(role, await make.memberOf(role, { group }))
  const owner = callers.get('owner')?.id
  const [token] = await rowsOf(world, 'select id from personal_access_tokens where user_id = $1', [owner])
  return { group, project, callers, ownersToken: (token as { id: number }).id }
}
