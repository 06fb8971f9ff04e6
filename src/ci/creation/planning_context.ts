import { isFrozen } from '../../core/delivery/freeze_periods.ts'
import { limitOf } from '../../core/settings/plan_limits.ts'
import { findProjectAs } from '../../core/places/project_roles.ts'
import { findByRef, repositoryPath, type Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { User } from '../../db/schema/tables.ts'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import type { CompileContext, PlanContext } from '../config/context.ts'
import type { FoundCommit, PipelineRequest } from './pipeline_request.ts'
import { mergeRequestVariables } from './merge_request_facts.ts'
import { predefinedVariables, userVariables } from './predefined.ts'
import { changedPathsOf, filesAt } from './repository_files.ts'
import { secretsFor } from './variables.ts'

export const NO_COMMIT = '0'.repeat(40)

interface Planning {
  readonly request: PipelineRequest
  readonly repository: Repository
  readonly found: FoundCommit
  readonly created_at: Date
}

/** Everything that a configuration is compiled and planned with. */
export async function contextsOf(
  instance: Instance,
  { request, repository, found, created_at }: Planning,
): Promise<{ readonly compile: CompileContext; readonly plan: PlanContext }> {
  const { project, source, user } = request
  const facts = {
    ...found,
    before_sha: request.before ?? NO_COMMIT,
    source,
    created_at,
    merge_request: request.merge_request !== undefined,
    frozen: await isFrozen(instance.db, project.id, created_at),
  }
  const predefined = [
    ...predefinedVariables(instance.config, project, facts, found.commit),
    ...(await mergeRequestVariables(instance, {
      ...found,
      project_id: project.id,
      merge_request_id: request.merge_request?.id ?? null,
    })),
  ]
  const secret = await secretsFor(instance, { project, protected: found.protected })
  const shared = {
    files: filesAt(repository, project.full_path, found.sha),
    openProject: opener(instance, user),
    changedPaths: changedPathsOf(repository, found.sha, baseOf(request)),
  }
  return {
    compile: {
      ...shared,
      ...(request.parent && { readArtifact: request.parent.readArtifact }),
      variables: [...predefined, ...secret(null), ...request.variables],
    },
    plan: {
      ...shared,
      source,
      ref: found.ref,
      tag: found.tag,
      project: project.full_path,
      variables: {
        predefined: [...predefined, ...userVariables(user)],
        secret,
        pipeline: request.variables,
      },
      limits: await limitsOf(instance, project),
    },
  }
}

async function limitsOf(
  { db }: Pick<Instance, 'db'>,
  project: Project,
): Promise<{ readonly pipeline_size: number; readonly needs: number }> {
  const size = await limitOf(db, project, 'ci_pipeline_size')
  return {
    pipeline_size: Number.isFinite(size) ? size : 0,
    needs: await limitOf(db, project, 'ci_needs_size_limit'),
  }
}

/** The commit whose difference to the pipeline's is what changed; null where there is none, as in a new branch. */
function baseOf({ before, merge_request, source }: PipelineRequest): string | null {
  if (merge_request !== undefined) return merge_request.base_sha
  const hasBase = source === 'push' || source === 'parent_pipeline'
  return hasBase && before !== undefined && before !== NO_COMMIT ? before : null
}

/** Files of other projects, as far as the user may read their code. */
const opener =
  (instance: Instance, user: User): CompileContext['openProject'] =>
  async (path, ref) => {
    const named = path.includes('/') ? await findByRef(instance.db, path) : undefined
    const project = named && (await findProjectAs(instance.db, named.id, user.id))
    const isOpen =
      project !== undefined &&
      project.repository_access_level !== 'disabled' &&
      (user.admin ||
        project.role >= ROLES.reporter ||
        (project.repository_access_level === 'enabled' &&
          (project.visibility === 'public' || (project.visibility === 'internal' && !user.external))))
    if (!isOpen) return 'project'
    const repository = instance.git.repository(repositoryPath(project.id))
    const sha = await repository.resolve(ref ?? project.default_branch ?? 'HEAD')
    return sha === undefined ? 'ref' : filesAt(repository, project.full_path, sha)
  }
