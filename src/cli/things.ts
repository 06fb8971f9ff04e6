import { resolve } from 'node:path'
import { existsSync } from 'node:fs'
import { Option, type Command } from 'commander'
import { makeToken } from '../access/tokens.ts'
import { createWithRepository } from '../core/import.ts'
import * as groups from '../core/groups.ts'
import { pathFault } from '../core/paths.ts'
import { violates, type Db } from '../db/client.ts'
import type { Namespace, Visibility } from '../db/schema.ts'
import { GitError } from '../git/errors.ts'
import type { Instance } from '../instance.ts'
import { Refusal, command, withInstance, type Cli } from './command.ts'

/** Commands about groups and projects. */
export function addThings(program: Command): void {
  addGroup(program)
  addProject(program)
}

const VISIBILITIES: readonly Visibility[] = ['private', 'internal', 'public']
const visibility = (): Option =>
  new Option('--visibility <level>', 'who sees it').choices([...VISIBILITIES]).default('private')

interface GroupOptions {
  readonly path: string
  readonly name?: string
  readonly visibility: Visibility
}

function addGroup(program: Command): void {
  command(
    program.command('group').description('groups'),
    'create',
    'create a group; its parent must be there',
  )
    .requiredOption('--path <a/b>', 'the full path')
    .option('--name <text>', 'the name for people; without it, the last part of the path')
    .addOption(visibility())
    .action((options: GroupOptions) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const group = await createGroup(instance, options)
        say(
          { id: group.id, full_path: group.full_path, visibility: group.visibility },
          `Created group ${group.full_path} (id ${group.id}).`,
        )
      }),
    )
}

interface Address {
  readonly parent: string | undefined
  readonly path: string
}

/** Takes `a/b/c` apart into `a/b` and `c`. */
function readAddress(fullPath: string): Address {
  const parts = fullPath.replaceAll(/^\/+|\/+$/g, '').split('/')
  const path = parts.pop() ?? ''
  const parent = parts.length === 0 ? undefined : parts.join('/')
  const fault = path === '' ? "can't be blank" : pathFault(path, parent === undefined)
  if (fault !== undefined) throw new Refusal(`--path ${fault}`)
  return { parent, path }
}

async function findParent(db: Db, fullPath: string): Promise<Namespace> {
  const found = await groups.findByPath(db, fullPath)
  if (found === undefined) throw new Refusal(`there is no group "${fullPath}" to put it in`)
  return found
}

const RANK: Readonly<Record<Visibility, number>> = { private: 0, internal: 1, public: 2 }

function checkVisibility(parent: Namespace | undefined, wanted: Visibility): void {
  if (parent?.kind === 'group' && RANK[wanted] > RANK[parent.visibility])
    throw new Refusal(`--visibility ${wanted} is not allowed in a ${parent.visibility} group`)
}

const pathTaken = (error: unknown): unknown =>
  ['routes_pkey', 'namespaces_full_path_key', 'projects_full_path_key'].some((name) => violates(error, name))
    ? new Refusal('--path has already been taken')
    : error

export async function createGroup(instance: Instance, options: GroupOptions): Promise<Namespace> {
  const { db, vault } = instance
  const { parent: parentPath, path } = readAddress(options.path)
  const parent = parentPath === undefined ? undefined : await findParent(db, parentPath)
  if (parent?.kind === 'user') throw new Refusal('a personal namespace holds no groups')
  checkVisibility(parent, options.visibility)
  const values = {
    parent,
    name: options.name ?? path,
    path,
    visibility: options.visibility,
    runners_token: vault.seal(makeToken('GR1348941')),
  }
  return db
    .transaction((tx) => groups.create(tx, values))
    .catch((error: unknown) => {
      throw pathTaken(error)
    })
}

export interface ProjectOptions {
  readonly path: string
  readonly name?: string
  readonly visibility: Visibility
  readonly import?: string
}

function addProject(program: Command): void {
  command(
    program.command('project').description('projects'),
    'create',
    'create a project, empty or from a repository',
  )
    .requiredOption('--path <a/b/c>', 'the full path')
    .option('--name <text>', 'the name for people; without it, the last part of the path')
    .addOption(visibility())
    .option('--import <url-or-path>', 'copy the branches and tags of this repository')
    .action((options: ProjectOptions) =>
      withInstance({ ...options }, async ({ instance }, cli) => {
        const project = await createProject(instance, cli, options)
        const { id, full_path, default_branch } = project
        cli.say(
          { id, full_path, visibility: project.visibility, default_branch },
          `Created project ${full_path} (id ${id}).`,
        )
      }),
    )
}

export async function createProject(
  instance: Instance,
  { progress }: Pick<Cli, 'progress'>,
  options: ProjectOptions,
): ReturnType<typeof createWithRepository> {
  const { parent: parentPath, path } = readAddress(options.path)
  if (parentPath === undefined) throw new Refusal('--path names a group and a project: group/project')
  const namespace = await findParent(instance.db, parentPath)
  checkVisibility(namespace, options.visibility)
  const values = {
    namespace,
    creator_id: null,
    name: options.name ?? path,
    path,
    visibility: options.visibility,
  }
  const abort = new AbortController()
  const onSignal = (): void => abort.abort()
  process.once('SIGINT', onSignal)
  try {
    const source =
      options.import === undefined ? undefined : watch(readSource(options.import), progress, abort.signal)
    return await createWithRepository(instance, values, source)
  } catch (error) {
    throw error instanceof GitError ? new Refusal(`the import failed: ${error.message}`) : pathTaken(error)
  } finally {
    process.off('SIGINT', onSignal)
  }
}

/** What exists as a path here is a path, wherever the command is run; all else is an address. */
const readSource = (given: string): string => (existsSync(given) ? resolve(given) : given)

type Source = NonNullable<Parameters<typeof createWithRepository>[2]>

function watch(from: string, progress: Cli['progress'], signal: AbortSignal): Source {
  let last = ''
  return {
    from,
    signal,
    onProgress: ({ phase, percent }) => {
      const text = percent === undefined ? `${phase} …` : `${phase} ${percent}%`
      if (text !== last) progress((last = text))
      if (percent === 100) progress(`${phase} done\n`)
    },
  }
}
