/* Clones by the real git, of projects with a member of a given role. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryPath } from '../../src/core/places/projects.ts'
import type { RoleName } from '../../src/core/sight/roles.ts'
import type { Project } from '../../src/db/schema/tables.ts'
import type { GitClient, Ran } from './git_client.ts'
import { gitLines, gitText } from './git_fixtures.ts'
import type { Someone } from './makers.ts'
import type { World } from './world.ts'

export interface Clone {
  readonly project: Project
  readonly directory: string
  /** The repository on the server. */
  readonly remote: string
  readonly as: Someone
  readonly push: (...args: string[]) => Promise<Ran>
  readonly commit: (message: string, file?: string, content?: string | Buffer) => Promise<string>
  readonly git: (...args: string[]) => Promise<string>
}

/** Clones a project, or a new one with the given repository, as a new member with the role. */
export type MakeClone = (
  role: RoleName,
  from?: { readonly project?: Project; readonly repository?: string },
) => Promise<Clone>

let count = 0
/** A path in the client's folder where nothing is yet. */
export const freshPath = ({ place }: GitClient): string => join(place, `clone-${++count}`)

export const remoteOf = (world: World, { id }: Pick<Project, 'id'>): string =>
  world.opened.instance.git.directory(repositoryPath(id))

/** `source` is the repository of projects that are made on the way. */
export const cloneMaker =
  (world: World, client: GitClient, source: string): MakeClone =>
  async (role, from = {}) => {
    const project = from.project ?? (await world.make.project({ repository: from.repository ?? source }))
    const as = await world.make.memberOf(role, { project })
    const directory = freshPath(client)
    await client.git(client.place, 'clone', '--quiet', client.url(`${project.full_path}.git`, as), directory)
    const git = (...args: string[]): Promise<string> => client.git(directory, ...args)
    return {
      project,
      directory,
      remote: remoteOf(world, project),
      as,
      git,
      push: (...args) => client.run(directory, ['push', '--porcelain', ...args]),
      commit: async (message, file = 'file', content = message) => {
        writeFileSync(join(directory, file), content)
        await git('add', '--all')
        await git('commit', '--quiet', '--allow-empty', '-m', message)
        return git('rev-parse', 'HEAD')
      },
    }
  }

/** Every ref of a repository, as `hash name`. */
export const refsOf = (directory: string): string[] =>
  gitLines(directory, ['for-each-ref', '--format=%(objectname) %(refname)'])
export const tip = (directory: string, ref: string): string =>
  gitText(directory, ['rev-parse', '--verify', '--quiet', ref])

/** Git's verdicts on the refs, without addresses. */
export const verdicts = ({ out }: Ran): string[] => out.split('\n').filter((line) => /^[ !+*=-]\t/.test(line))
/** The server's remarks. */
export const heard = ({ told }: Ran): string[] =>
  told
    .split('\n')
    .filter((line) => line.startsWith('remote: '))
    .map((line) => line.slice(8).trimEnd())
