import type { Config } from '../../config.ts'
import { INTERFACE_VERSION, REVISION } from '../../core/values/versions.ts'
import type { Project, User } from '../../db/schema/tables.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import type { Commit } from '../../git/objects/commit.ts'
import type { Variable } from '../config/plan.ts'

// Variables that exist without anybody setting them, as published. Those of a job that runs are in `job_variables.ts`.

type Values = Readonly<Record<string, string | number | boolean | null | undefined>>

/** Null and undefined leave a variable out. */
export const variablesOf = (values: Values): Variable[] =>
  Object.entries(values).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: String(value) }],
  )

const [MAJOR = '', MINOR = '', PATCH = ''] = INTERFACE_VERSION.split('.')

/** Lower case, at most 63 characters, with nothing but letters, digits and inner hyphens. */
export const slugOf = (text: string, length = 63): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '-')
    .slice(0, length)
    .replaceAll(/^-+|-+$/g, '')

function ofServer({ url, hostname }: Pick<Config, 'url' | 'hostname'>): Variable[] {
  const { protocol, port, host } = new URL(url)
  const scheme = protocol.replace(':', '')
  return variablesOf({
    CI: true,
    GITLAB_CI: true,
    CI_API_V4_URL: `${url}/api/v4`,
    CI_API_GRAPHQL_URL: `${url}/api/graphql`,
    CI_SERVER_URL: url,
    CI_SERVER_HOST: hostname,
    CI_SERVER_FQDN: host,
    CI_SERVER_PORT: port === '' ? (scheme === 'https' ? 443 : 80) : port,
    CI_SERVER_PROTOCOL: scheme,
    CI_SERVER_NAME: 'Guildhall',
    CI_SERVER_VERSION: INTERFACE_VERSION,
    CI_SERVER_VERSION_MAJOR: MAJOR,
    CI_SERVER_VERSION_MINOR: MINOR,
    CI_SERVER_VERSION_PATCH: PATCH,
    CI_SERVER_REVISION: REVISION,
    GITLAB_FEATURES: '',
  })
}

/** The parts of a project that variables tell of. */
export type VariableProject = Pick<
  Project,
  | 'id'
  | 'namespace_id'
  | 'name'
  | 'path'
  | 'full_path'
  | 'description'
  | 'visibility'
  | 'default_branch'
  | 'settings'
>

/** Where a project's configuration lies in its repository. */
export const configPath = ({ settings }: Pick<Project, 'settings'>): string => {
  const path = settings['ci_config_path']
  return typeof path === 'string' && path.trim() !== '' ? path : '.gitlab-ci.yml'
}

function ofProject(
  project: VariableProject,
  { url, pagesDomain }: Pick<Config, 'url' | 'pagesDomain'>,
): Variable[] {
  const namespace = project.full_path.slice(0, -project.path.length - 1)
  const [root = ''] = namespace.split('/')
  return variablesOf({
    CI_CONFIG_PATH: configPath(project),
    CI_DEFAULT_BRANCH: project.default_branch,
    CI_PROJECT_ID: project.id,
    CI_PROJECT_NAME: project.path,
    CI_PROJECT_TITLE: project.name,
    CI_PROJECT_DESCRIPTION: project.description ?? '',
    CI_PROJECT_PATH: project.full_path,
    CI_PROJECT_PATH_SLUG: slugOf(project.full_path),
    CI_PROJECT_NAMESPACE: namespace,
    CI_PROJECT_NAMESPACE_ID: project.namespace_id,
    CI_PROJECT_ROOT_NAMESPACE: root,
    CI_PROJECT_URL: `${url}/${project.full_path}`,
    CI_PROJECT_VISIBILITY: project.visibility,
    CI_PAGES_DOMAIN: pagesDomain,
    CI_PAGES_URL: `https://${root}.${pagesDomain}/${project.full_path.slice(root.length + 1)}`,
  })
}

/** Columns of a pipeline that variables show before it has a row. */
export interface PipelineFacts extends Pick<
  Pipeline,
  'sha' | 'before_sha' | 'ref' | 'tag' | 'protected' | 'source' | 'created_at'
> {
  /** Whether it is of a merge request. */
  readonly merge_request: boolean
  /** Whether a freeze of deployments is on in the project. */
  readonly frozen: boolean
}

function ofCommit(facts: PipelineFacts, commit: Commit): Variable[] {
  const { ref, tag } = facts
  const message = commit.message.trim()
  const [title = ''] = message.split('\n', 1)
  const time = new Date(commit.committer.date.seconds * 1000)
  return variablesOf({
    CI_COMMIT_SHA: facts.sha,
    CI_COMMIT_SHORT_SHA: facts.sha.slice(0, 8),
    CI_COMMIT_BEFORE_SHA: facts.before_sha,
    CI_COMMIT_REF_NAME: ref,
    CI_COMMIT_REF_SLUG: slugOf(ref),
    CI_COMMIT_REF_PROTECTED: facts.protected,
    CI_COMMIT_BRANCH: tag || facts.merge_request ? null : ref,
    CI_COMMIT_TAG: tag ? ref : null,
    CI_COMMIT_MESSAGE: commit.message,
    CI_COMMIT_TITLE: title,
    CI_COMMIT_DESCRIPTION: title.length >= 100 ? message : message.slice(title.length).trim(),
    CI_COMMIT_AUTHOR: `${commit.author.name} <${commit.author.email}>`,
    CI_COMMIT_TIMESTAMP: time.toISOString(),
  })
}

/** All that is known before the configuration is read. */
export const predefinedVariables = (
  config: Pick<Config, 'url' | 'hostname' | 'pagesDomain'>,
  project: VariableProject,
  facts: PipelineFacts,
  commit: Commit,
): Variable[] => [
  ...ofServer(config),
  ...ofProject(project, config),
  ...variablesOf({
    CI_PIPELINE_SOURCE: facts.source,
    CI_PIPELINE_CREATED_AT: facts.created_at.toISOString(),
    CI_PIPELINE_TRIGGERED: facts.source === 'trigger' ? true : null,
    CI_DEPLOY_FREEZE: facts.frozen ? true : null,
  }),
  ...ofCommit(facts, commit),
]

/** Of whoever starts a pipeline or plays its job. */
export const userVariables = (
  user: Pick<User, 'id' | 'username' | 'name' | 'email'> | undefined,
): Variable[] =>
  user === undefined
    ? []
    : variablesOf({
        GITLAB_USER_ID: user.id,
        GITLAB_USER_LOGIN: user.username,
        GITLAB_USER_NAME: user.name,
        GITLAB_USER_EMAIL: user.email,
      })
