import { Type as t } from 'typebox'
import { code, filledRepository } from '../../access/gates/code_gates.ts'
import { developer, project, signedIn } from '../../access/gates/gates.ts'
import { filesAt, noFiles } from '../../ci/creation/project_files.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Repository } from '../../git/repository.ts'
import { operation } from '../../http/operation.ts'
import { badParams, notFound, type Problem } from '../../http/problems.ts'
import { Lint, present } from './entity.ts'
import { lintFor } from './linting.ts'

const noCommit = (): Problem => notFound('Commit')
const noRepository = (): Problem => notFound('Repository')
const exclusive = (): Problem => badParams(['content_ref, sha are mutually exclusive'])
const exclusiveRefs = (): Problem => badParams(['dry_run_ref, ref are mutually exclusive'])

const flags = {
  dry_run: t.Optional(t.Boolean({ description: 'Decide rules, as a push would' })),
  include_jobs: t.Optional(t.Boolean()),
}

const DEFAULT_PATH = '.gitlab-ci.yml'
const pathOf = (settings: Readonly<Record<string, unknown>>): string => {
  const path = settings['ci_config_path']
  return typeof path === 'string' && path.trim() !== '' ? path : DEFAULT_PATH
}

/** The commit that `ref` means. Throws 404 where there is none. */
async function commitOf(repository: Repository, ref: string | undefined): Promise<string> {
  if (await repository.isEmpty()) throw noRepository()
  const sha = await repository.resolve(ref ?? 'HEAD')
  if (sha === undefined) throw noCommit()
  return sha
}

export const checkCommittedConfiguration = operation({
  method: 'GET',
  path: '/projects/:id/ci/lint',
  summary: 'Check the pipeline configuration of a project',
  published: true,
  first: code,
  params: t.Object({
    content_ref: t.Optional(t.String({ description: 'Where it is read; by default the default branch' })),
    sha: t.Optional(t.String({ description: 'The older name of content_ref' })),
    dry_run_ref: t.Optional(t.String({ description: 'The branch that a dry run is for' })),
    ref: t.Optional(t.String({ description: 'The older name of dry_run_ref' })),
    ...flags,
  }),
  gates: [filledRepository],
  handle: async (ctx) => {
    const { params, project, repository, config } = ctx
    const { content_ref, sha: old, dry_run = false, dry_run_ref, ref, include_jobs = false } = params
    if (content_ref !== undefined && old !== undefined) throw exclusive()
    if (dry_run_ref !== undefined && ref !== undefined) throw exclusiveRefs()
    const sha = await commitOf(repository, content_ref ?? old)
    const files = filesAt(repository, { project: project.full_path, sha })
    const path = pathOf(project.settings)
    const content = (await files.read(path)) ?? ''
    const dryRunRef = dry_run ? (dry_run_ref ?? ref ?? project.default_branch ?? '') : null
    const linted = await lintFor(ctx, { content, path, files, dryRunRef })
    return present(linted, { url: config.url, include_jobs })
  },
  returns: Lint,
  refuses: [noCommit, noRepository, exclusive, exclusiveRefs],
})

export const checkGivenConfiguration = operation({
  method: 'POST',
  path: '/projects/:id/ci/lint',
  summary: 'Check a pipeline configuration as if a project had it',
  published: true,
  moves: 'rows',
  first: [signedIn],
  params: t.Object({
    content: t.String({ description: 'The configuration' }),
    ref: t.Optional(t.String({ description: 'The branch that a dry run is for' })),
    ...flags,
  }),
  gates: [project, developer],
  status: 200,
  handle: async (ctx) => {
    const { params, project, git, config } = ctx
    const { content, ref = project.default_branch ?? '', dry_run = false, include_jobs = false } = params
    const repository = git.repository(repositoryPath(project.id))
    const sha = (await repository.exists()) ? await repository.resolve('HEAD') : undefined
    const files =
      sha === undefined
        ? noFiles(project.full_path)
        : filesAt(repository, { project: project.full_path, sha })
    const linted = await lintFor(ctx, {
      content,
      path: pathOf(project.settings),
      files,
      dryRunRef: dry_run ? ref : null,
    })
    return present(linted, { url: config.url, include_jobs })
  },
  returns: Lint,
})
