/* A project with a small history of its own, what a commit through the interface needs, and what git says came of it. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { repositoryPath } from '../../src/core/places/projects.ts'
import type { Project } from '../../src/db/schema/tables.ts'
import type { Visibility } from '../../src/db/schema/columns.ts'
import { gitBytes, gitText } from './git_fixtures.ts'
import type { Someone } from './makers.ts'
import { writeSmallHistory, type SmallHistory } from './small_history.ts'
import { openWorld, type Answered, type World } from './world.ts'

export interface Code {
  readonly world: World
  readonly history: SmallHistory
  readonly project: Project
  readonly maintainer: Someone
  readonly developer: Someone
  /** The directory of the project's repository. */
  readonly directory: string
  /** Another project, with the same history unless `repository` says otherwise, and its maintainer. */
  readonly another: (options?: { visibility?: Visibility; repository?: string }) => Promise<Another>
}
export interface Another {
  readonly project: Project
  readonly maintainer: Someone
  readonly directory: string
}

const directoryOf = (world: World, { id }: { readonly id: number }): string =>
  world.opened.instance.git.directory(repositoryPath(id))

export async function openCode(): Promise<Code> {
  const world = await openWorld()
  const history = writeSmallHistory()
  const another: Code['another'] = async ({
    visibility = 'private',
    repository = history.directory,
  } = {}) => {
    const project = await world.make.project({ visibility, repository })
    const maintainer = await world.make.memberOf('maintainer', { project })
    return { project, maintainer, directory: directoryOf(world, project) }
  }
  const mine = await another()
  const developer = await world.make.memberOf('developer', { project: mine.project })
  return { world, history, developer, another, ...mine }
}

/** Posts a commit as it is given. */
export const post = (
  { world, project }: Pick<Code, 'world' | 'project'>,
  as: Someone | undefined,
  body: object | string,
  headers: Record<string, string> = {},
): Promise<Answered> =>
  world.call('POST', `/projects/${project.id}/repository/commits`, { as, body, headers })

/** All that refs and the object store hold, but for the index of commits that is made of it: equal texts mean that nothing was written. */
export function stored(directory: string): string {
  const below = (folder: string): string[] =>
    readdirSync(join(directory, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
  const objects = below('objects').filter((file) => !file.startsWith('objects/info/commit-graph'))
  const refs = ['HEAD', 'packed-refs', ...below('refs')]
    .filter((file) => existsSync(join(directory, file)))
    .map((file) => `${file} ${readFileSync(join(directory, file), 'utf8')}`)
  return [...refs, ...objects].toSorted().join('\n')
}

/** Mode, kind and path of every file, and its content unless it is a submodule. */
export function files(directory: string, rev: string): Record<string, string> {
  const lines = gitText(directory, ['ls-tree', '-r', '-z', rev]).split('\0').filter(Boolean)
  return Object.fromEntries(
    lines.map((line) => {
      const [, mode = '', kind = '', id = '', path = ''] = /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(line) ?? []
      const content = kind === 'blob' ? gitBytes(directory, ['cat-file', 'blob', id]).toString('latin1') : id
      return [path, `${mode} ${content}`]
    }),
  )
}

/** Refuses nothing that git's own check accepts, and accepts nothing that it refuses. */
export function assertSound(directory: string): void {
  assert.doesNotThrow(() => gitText(directory, ['fsck', '--strict', '--no-dangling']))
}

export const tip = (directory: string, branch: string): string =>
  gitText(directory, ['rev-parse', `refs/heads/${branch}`])
