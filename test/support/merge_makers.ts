import { repositoryPath } from '../../src/core/places/projects.ts'
import type { Project } from '../../src/db/schema/tables.ts'
import type { Repository } from '../../src/git/repository.ts'
import type { Someone } from './makers.ts'
import type { Answered, World } from './world.ts'

/** A project with a branch `main`, and short ways to what tests of merge requests do. */
export interface Workshop {
  readonly project: Project
  readonly owner: Someone
  readonly repository: Repository
  /** Where it lies. */
  readonly directory: string
  /** Commits files to a branch, which starts from `main` when it is not there. Gives the hash. */
  readonly commit: (branch: string, files: Record<string, string>, message?: string) => Promise<string>
  readonly tip: (branch: string) => Promise<string>
  /** Calls below the project's merge requests. */
  readonly ask: (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path?: string,
    options?: { body?: object; as?: Someone },
  ) => Promise<Answered>
  /** Makes a merge request of a branch with a file of its own; gives its iid. */
  readonly open: (branch: string, body?: object) => Promise<number>
}

export async function openWorkshop(
  world: World,
  visibility: 'private' | 'public' = 'private',
): Promise<Workshop> {
  const { make, call, opened } = world
  const project = await make.project({ repository: 'empty', visibility })
  const owner = await make.memberOf('owner', { project })
  const { git } = opened.instance
  const repository = git.repository(repositoryPath(project.id))
  const tip = async (branch: string): Promise<string> => (await repository.ref(`refs/heads/${branch}`)) ?? ''
  const commit: Workshop['commit'] = async (
    branch,
    files,
    message = `Write ${Object.keys(files).join()}`,
  ) => {
    const base = (await tip(branch)) || (await tip('main'))
    const actions = await Promise.all(
      Object.entries(files).map(async ([file_path, content]) => ({
        action: base !== '' && (await repository.entry(base, file_path)) ? 'update' : 'create',
        file_path,
        content,
      })),
    )
    const isNew = (await tip(branch)) === '' && base !== ''
    const answer = await call('POST', `/projects/${project.id}/repository/commits`, {
      as: owner,
      body: { branch, commit_message: message, actions, ...(isNew && { start_branch: 'main' }) },
    })
    if (answer.status !== 201) throw new Error(answer.text)
    return (answer.body as { id: string }).id
  }
  const ask: Workshop['ask'] = (method, path = '', { body, as = owner } = {}) =>
    call(method, `/projects/${project.id}/merge_requests${path}`, { as, ...(body && { body }) })
  await commit('main', { README: 'one\ntwo\nthree\n' })
  return {
    project,
    owner,
    repository,
    directory: git.directory(repositoryPath(project.id)),
    commit,
    tip,
    ask,
    open: async (branch, body = {}) => {
      if ((await tip(branch)) === '') await commit(branch, { [`${branch}.txt`]: `${branch}\n` })
      const made = await ask('POST', '', {
        body: { source_branch: branch, target_branch: 'main', title: `The ${branch}`, ...body },
      })
      if (made.status !== 201) throw new Error(made.text)
      return (made.body as { iid: number }).iid
    },
  }
}
