import { Type as t, type Static } from 'typebox'
import { maintainer, projectEvenArchived as project, signedIn } from '../../access/gates/gates.ts'
import { isBranchName } from '../../core/pushes/commit_writing.ts'
import { findByRef, repositoryPath, type Project as Row } from '../../core/places/projects.ts'
import { findReadme } from '../../core/repositories/readmes.ts'
import { followDefaultBranch } from '../../core/repositories/repositories.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { isWider } from '../../core/values/visibilities.ts'
import { violates } from '../../db/errors.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { pointHead } from '../../git/refs/head.ts'
import type { Actor, Has } from '../../http/gate.ts'
import { enqueue } from '../../jobs/job.ts'
import { operation } from '../../http/operation.ts'
import { forbidden, invalid, notFound, type Problem } from '../../http/problems.ts'
import { Project, presentRecord, type ProjectRecord } from '../../records/places/full_project.ts'
import { branchIn, fields, settle } from './fields.ts'
import { FORK_VISIBILITY, TAKEN, isTaken, takenIn } from './gates.ts'
import { findTargetNamespace } from '../../core/places/target_namespace.ts'
import { recordFor } from './record_store.ts'
import { faultsOf, visibilityFaults } from '../../core/places/project_rules.ts'
import { takenBy, update } from './store.ts'

const params = t.Object(fields, { atLeastOne: Object.keys(fields) })
type Ctx = Has<{ actor: Actor; project: Row; params: Static<typeof params> }>

/** The name, the address and who sees it are for owners to change. */
function checkRight({ actor, project, params }: Ctx): void {
  const { name, path, visibility } = params
  const changes =
    (name !== undefined && name !== project.name) ||
    (path !== undefined && path !== project.path) ||
    (visibility !== undefined && visibility !== project.visibility)
  if (changes && !actor.admin && project.role < ROLES.owner) throw forbidden()
}

/** A fork is no more visible than what it comes from; the database holds every writer to it. */
const tooWide = (visibility: Visibility): Record<string, string[]> => ({
  visibility_level: [`${visibility} is not allowed since the fork source project has lower visibility.`],
})

async function forkFaults({ db, project }: Ctx, wanted: Visibility): Promise<Record<string, string[]>> {
  const source = project.forked_from_project_id
  const found = source === null ? undefined : await findByRef(db, String(source))
  return found !== undefined && isWider(wanted, found.visibility) ? tooWide(wanted) : {}
}

async function checkFaults(ctx: Ctx): Promise<void> {
  const { db, actor, project, params } = ctx
  const { name, path, description, visibility } = params
  const home = await findTargetNamespace(db, actor, project.namespace_id)
  if (home === undefined) throw notFound('Project')
  const wider = visibility !== undefined && visibility !== project.visibility
  const faults = {
    ...faultsOf({ name: name?.trim(), path, description }),
    ...(wider && visibilityFaults(home, visibility)),
    ...(wider && (await forkFaults(ctx, visibility))),
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
  const taken = await takenBy(db, project.id, {
    namespace_id: home.id,
    name: name?.trim() ?? project.name,
    full_path: `${home.full_path}/${path ?? project.path}`,
  })
  if (taken.name || taken.path)
    throw invalid({ ...(taken.name && { name: TAKEN }), ...(taken.path && { path: TAKEN }) })
}

const noBranch = (branch: string): Problem =>
  invalid({ base: [`Could not change HEAD: branch '${branch}' does not exist`] })

/** A branch that is there; while there is none, any name will do. */
async function checkBranch({ git, project, params }: Ctx): Promise<void> {
  const branch = branchIn(params)
  if (branch === undefined || branch === project.default_branch) return
  const repository = git.repository(repositoryPath(project.id))
  if (!isBranchName(branch) || !(await repository.exists())) throw noBranch(branch)
  const isThere = (await repository.ref(`refs/heads/${branch}`)) !== undefined
  if (!isThere && !(await repository.isEmpty())) throw noBranch(branch)
}

/** Writes the row, and asks for HEAD to follow it, should this process end before it does. */
const write = (ctx: Ctx, readme: string | null): Promise<ProjectRecord> =>
  ctx.transact(ctx, async (ctx) => {
    const { db, actor, project, params } = ctx
    checkRight(ctx)
    const set = settle(params)
    const branch = branchIn(params)
    await update(db, project.id, {
      name: params.name?.trim() ?? null,
      path: params.path ?? null,
      description: params.description === undefined ? null : (params.description ?? ''),
      visibility: params.visibility ?? null,
      default_branch: branch ?? null,
      clears_avatar: params.avatar !== undefined,
      readme_path: readme,
      topics: set.topics ?? null,
      repository_access_level: set.repository_access_level ?? null,
      settings: JSON.stringify(set.settings),
    }).catch((error: unknown) => {
      if (params.visibility !== undefined && violates(error, FORK_VISIBILITY))
        throw invalid(tooWide(params.visibility))
      throw isTaken(error) ? invalid(takenIn(error)) : error
    })
    if (changesBranch(ctx)) await enqueue(db, followDefaultBranch, { project_id: project.id })
    return recordFor(db, actor, project.id)
  })

const changesBranch = ({ project, params }: Ctx): boolean => {
  const branch = branchIn(params)
  return branch !== undefined && branch !== project.default_branch
}

export const updateProject = operation({
  method: 'PUT',
  path: '/projects/:id',
  summary: 'Change a project',
  published: true,
  moves: 'rows',
  first: [signedIn],
  params,
  gates: [project, maintainer],
  handle: async (ctx) => {
    const { git, actor, project, params } = ctx
    checkRight(ctx)
    await checkFaults(ctx)
    await checkBranch(ctx)
    const branch = branchIn(params)
    const repository = git.repository(repositoryPath(project.id))
    const readme = branch === undefined ? null : await findReadme(repository, branch)
    const turn = async (): Promise<ProjectRecord> => {
      await checkBranch(ctx)
      const record = await write(ctx, readme)
      await pointHead(git.directory(repository.path), branch ?? '')
      return record
    }
    // The branch cannot be deleted meanwhile; afterwards HEAD keeps it.
    const record = await (changesBranch(ctx)
      ? repository.locked(['HEAD', `refs/heads/${branch}`], turn)
      : write(ctx, readme))
    return presentRecord(record, ctx, { signedIn: true, admin: actor.admin })
  },
  returns: Project,
  refuses: [invalid({ name: TAKEN }), invalid(tooWide('public')), noBranch('gone')],
})
