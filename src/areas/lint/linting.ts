import { mayReadCode } from '../../access/gates/gates.ts'
import { lint, type Linted } from '../../ci/creation/lint.ts'
import type { CompileContext, PlanContext, ProjectFiles } from '../../ci/config/context.ts'
import type { Variable } from '../../ci/config/plan.ts'
import { projectOpener } from '../../ci/creation/project_files.ts'
import { secretsFor } from '../../ci/creation/variables.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES, canSee } from '../../core/sight/roles.ts'
import type { Has } from '../../http/gate.ts'

export interface Asked {
  readonly content: string
  readonly path: string
  /** Where local includes are read. */
  readonly files: ProjectFiles
  /** A branch or tag that a pipeline would run on; null for no dry run. */
  readonly dryRunRef: string | null
}

/** Lints as a push to the ref would have it. Variables of the project are seen by who may read its settings only. */
export async function lintFor(ctx: Has<{ project: Project }>, asked: Asked): Promise<Linted> {
  const { actor, project } = ctx
  const openProject = projectOpener(
    ctx,
    actor?.id ?? null,
    (other) => canSee(actor, other.visibility, other.role, ROLES.guest) && mayReadCode(actor, other),
  )
  const predefined = predefinedOf(ctx, asked)
  const trusted = actor !== null && (actor.admin || project.role >= ROLES.developer)
  const secret = trusted ? await secretsFor(ctx, { project, protected: false }) : () => []
  const context: CompileContext = {
    files: asked.files,
    openProject,
    variables: [...predefined, ...secret(null)],
    changedPaths: async () => null,
  }
  const dryRun =
    asked.dryRunRef === null ? null : dryRunOf(context, { project, ref: asked.dryRunRef, predefined, secret })
  return lint(asked, context, dryRun)
}

interface DryRun {
  readonly project: Project
  readonly ref: string
  readonly predefined: readonly Variable[]
  readonly secret: PlanContext['variables']['secret']
}
const dryRunOf = (context: CompileContext, { project, ref, predefined, secret }: DryRun): PlanContext => ({
  source: 'push',
  ref,
  tag: false,
  project: project.full_path,
  variables: { predefined, secret, pipeline: [] },
  changedPaths: context.changedPaths,
  files: context.files,
  openProject: context.openProject,
  limits: { pipeline_size: 0, needs: 50 },
})

/** Of the predefined variables, those that rules and includes ask for most. */
function predefinedOf(
  { project, config }: Has<{ project: Project }>,
  { files, dryRunRef }: Asked,
): Variable[] {
  const ref = dryRunRef ?? project.default_branch ?? ''
  const values = {
    CI: 'true',
    GITLAB_CI: 'true',
    CI_SERVER_URL: config.url,
    CI_API_V4_URL: `${config.url}/api/v4`,
    CI_PIPELINE_SOURCE: 'push',
    CI_COMMIT_SHA: files.sha,
    CI_COMMIT_SHORT_SHA: files.sha.slice(0, 8),
    CI_COMMIT_REF_NAME: ref,
    CI_COMMIT_BRANCH: ref,
    CI_DEFAULT_BRANCH: project.default_branch ?? '',
    CI_PROJECT_ID: String(project.id),
    CI_PROJECT_NAME: project.path,
    CI_PROJECT_PATH: project.full_path,
    CI_PROJECT_NAMESPACE: project.full_path.slice(0, -project.path.length - 1),
    CI_PROJECT_VISIBILITY: project.visibility,
  }
  return Object.entries(values).map(([key, value]) => ({ key, value }))
}
