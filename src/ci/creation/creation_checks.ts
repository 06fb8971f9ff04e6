import { levelOf } from '../../core/sight/project_settings.ts'
import { mayMerge, mayPush, type PushRule } from '../../core/repositories/protected_branches.ts'
import { ROLES, canSee } from '../../core/sight/roles.ts'
import type { Repository } from '../../git/repository.ts'
import type { Project } from '../../core/places/projects.ts'
import type { FoundRef, PipelineRequest } from './pipeline_request.ts'

/** The body that a trigger received. Callers cannot set this variable. */
export const PAYLOAD = 'TRIGGER_PAYLOAD'

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'

/** The roles that may set variables of a pipeline, by the project's setting. */
const OVERRIDE_ROLES: Readonly<Record<string, number>> = {
  developer: ROLES.developer,
  maintainer: ROLES.maintainer,
  owner: ROLES.owner,
  no_one_allowed: Infinity,
}

/** The push rule of a protected branch. */
type Rules = (branch: string) => PushRule | undefined

const plainName = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, '')

/** Why the user may not have this pipeline, in the published words and order; undefined where nothing stands against it. */
export function checkRequest(request: PipelineRequest, rules: Rules): string | undefined {
  const { project, user, variables, source } = request
  const builds = levelOf(project, 'builds')
  const holder = { id: user.id, role: project.role, admin: user.admin }
  if (!canSee(user, project.visibility, project.role, ROLES.guest))
    return 'Insufficient permissions to create a new pipeline'
  if (builds === 'disabled') return 'Pipelines are disabled!'
  if (user.state !== 'active' || project.archived || !(user.admin || project.role >= ROLES.developer))
    return 'Insufficient permissions to create a new pipeline'
  const branch = branchOf(request)
  if (branch !== undefined) {
    const rule = rules(branch)
    if (!mayPush(rule, holder) && !mayMerge(rule, holder)) return noRight(branch)
  }
  const sets = variables.some(({ key }) => key !== PAYLOAD) && source !== 'schedule'
  if (sets && !maySetVariables(project, user)) return 'Insufficient permissions to set pipeline variables'
  return undefined
}

/** The branch of the project whose protection counts: of a merge request its source, unless that lies in a fork. */
function branchOf({ project, ref, merge_request }: PipelineRequest): string | undefined {
  if (merge_request === undefined) return ref.startsWith(TAGS) ? undefined : plainName(ref)
  return merge_request.source_project_id === project.id ? merge_request.source_branch : undefined
}

/** Whether the user may set variables of pipelines and of jobs that are played. */
export function maySetVariables(
  { role, settings }: Pick<Project, 'role' | 'settings'>,
  { admin }: { readonly admin: boolean },
): boolean {
  const least =
    OVERRIDE_ROLES[String(settings['ci_pipeline_variables_minimum_override_role'])] ?? ROLES.developer
  return admin ? least !== Infinity : role >= least
}

const noRight = (ref: string): string =>
  `You do not have sufficient permission to run a pipeline on '${ref}'. Please select a different branch or contact ` +
  'your administrator for assistance.'

/** The branch or tag that a request names, or why there is none, in the published words. */
export async function findRef(
  repository: Repository,
  request: PipelineRequest,
  rules: Rules,
): Promise<FoundRef | string> {
  const { ref, sha, merge_request } = request
  if (merge_request !== undefined && sha !== undefined) return { ref, tag: false, sha, protected: false }
  if (!(await repository.exists())) return 'Reference not found'
  const name = plainName(ref)
  const [branch, tag] = [
    ref.startsWith(TAGS) ? undefined : await repository.ref(HEADS + name),
    ref.startsWith(HEADS) ? undefined : await repository.ref(TAGS + name),
  ]
  if (branch !== undefined && tag !== undefined) return 'Ref is ambiguous'
  if (branch === undefined && tag === undefined) return 'Reference not found'
  const isTag = tag !== undefined
  const commit = sha ?? (isTag ? await repository.resolve(TAGS + name) : branch)
  if (commit === undefined) return 'Commit not found'
  return { ref: name, tag: isTag, sha: commit, protected: !isTag && rules(name) !== undefined }
}
