import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Option, type Command } from 'commander'
import { digestOf, makeToken } from '../access/tokens.ts'
import { REGISTRATION_PREFIX, setRegistrationToken } from '../ci/runners/registration.ts'
import * as groups from '../core/places/groups.ts'
import { createWithRepository } from '../core/pushes/import.ts'
import { ForbiddenAddress } from '../core/settings/outbound.ts'
import { findByRef } from '../core/places/projects.ts'
import { VISIBILITIES, isWider, narrower } from '../core/values/visibilities.ts'
import type { Db } from '../db/db.ts'
import { violates } from '../db/errors.ts'
import type { Namespace, Project } from '../db/schema/tables.ts'
import type { Visibility } from '../db/schema/columns.ts'
import { GitError } from '../git/errors.ts'
import type { Instance } from '../instance.ts'
import { Misuse, Refusal, command, family, withInstance, type Cli } from './command.ts'
import { readAddress, readName, type Address } from './words.ts'

const UNDER = 'Groups and projects'

/** Commands about groups and projects. */
export function addThings(program: Command): void {
  addGroup(family(program, 'group', 'Groups'))
  addProject(family(program, 'project', 'Projects'))
}

const visibility = (): Option =>
  new Option('--visibility <level>', "who sees it; without it, as the instance's settings say").choices([
    ...VISIBILITIES,
  ])

export interface GroupOptions {
  readonly path: Address
  readonly name?: string
  readonly visibility?: Visibility
}

function addGroup(parent: Command): void {
  command({ parent, name: 'create', description: 'create a group; its parent must be there', under: UNDER })
    .requiredOption('--path <a/b>', 'the full path', readAddress)
    .option('--name <text>', 'the name for people; without it, the last part of the path', readName)
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

async function findParent(db: Db, fullPath: string): Promise<Namespace> {
  const found = await groups.findByPath(db, fullPath)
  if (found === undefined) throw new Refusal(`there is no group "${fullPath}" to put it in`)
  return found
}

/** The visibility asked for, or the instance's own as far as the parent allows it. Throws Refusal for a wider one than the parent's. */
function settleVisibility(
  parent: Namespace | undefined,
  wanted: Visibility | undefined,
  standing: Visibility,
): Visibility {
  if (wanted !== undefined) {
    checkVisibility(parent, wanted)
    return wanted
  }
  return parent?.kind === 'group' ? narrower(standing, parent.visibility) : standing
}

function checkVisibility(parent: Namespace | undefined, wanted: Visibility): void {
  if (parent?.kind === 'group' && isWider(wanted, parent.visibility))
    throw new Refusal(
      `--visibility ${wanted} is not allowed in ${parent.full_path}, which is ${parent.visibility}`,
    )
}

const TAKEN = new Refusal('--path has already been taken')
const pathTaken = (error: unknown): unknown =>
  ['routes_pkey', 'namespaces_full_path_key', 'projects_full_path_key'].some((name) => violates(error, name))
    ? TAKEN
    : violates(error, 'projects_name_key')
      ? new Refusal('--name has already been taken')
      : error

export async function createGroup(instance: Instance, options: GroupOptions): Promise<Namespace> {
  const { db, vault } = instance
  const { parent: parentPath, path } = options.path
  const parent = parentPath === undefined ? undefined : await findParent(db, parentPath)
  if (parent?.kind === 'user') throw new Refusal('a personal namespace holds no groups')
  const standing = instance.settings.get('default_group_visibility')
  const registration = makeToken(REGISTRATION_PREFIX)
  const values = {
    parent,
    name: options.name ?? path,
    path,
    visibility: settleVisibility(parent, options.visibility, standing),
    runners_token: vault.seal(registration),
  }
  return db
    .transaction(async (tx) => {
      const row = await groups.create(tx, values)
      await setRegistrationToken(tx, { group_id: row.id, project_id: null }, digestOf(registration))
      return row
    })
    .catch((error: unknown) => {
      throw pathTaken(error)
    })
}

export interface ProjectOptions {
  readonly path: Address
  readonly name?: string
  readonly visibility?: Visibility
  /** An address, or an absolute path here. */
  readonly import?: string
}

function addProject(parent: Command): void {
  command({ parent, name: 'create', description: 'create a project, empty or imported', under: UNDER })
    .requiredOption('--path <a/b/c>', 'the full path', readAddress)
    .option('--name <text>', 'the name for people; without it, the last part of the path', readName)
    .addOption(visibility())
    .addOption(importOption())
    .action(async (options: ProjectOptions) => {
      if (options.path.parent === undefined)
        throw new Misuse('--path names a group and a project: group/project')
      await withInstance({ ...options }, async ({ instance }, cli) => {
        const { id, full_path, visibility, default_branch } = await createProject(instance, cli, options)
        cli.say({ id, full_path, visibility, default_branch }, `Created project ${full_path} (id ${id}).`)
      })
    })
}

export const importOption = (what = 'copy the branches and tags of this repository'): Option =>
  new Option('--import <url-or-path>', what).argParser(readSource)

/** A path that exists here is a path, wherever the command runs; all else must be an address. */
function readSource(given: string): string {
  if (/^[a-z]+:\/\//i.test(given)) return given
  if (existsSync(given)) return resolve(given)
  throw new Misuse(`--import takes an http, https or git address or a path, and there is no "${given}" here`)
}

export async function createProject(
  instance: Instance,
  cli: Pick<Cli, 'progress'>,
  options: ProjectOptions,
): Promise<Project> {
  const { parent = '', path } = options.path
  const namespace = await findParent(instance.db, parent)
  if ((await findByRef(instance.db, `${parent}/${path}`)) !== undefined) throw TAKEN
  const { name = path, import: from } = options
  const standing = instance.settings.get('default_project_visibility')
  const visibility = settleVisibility(namespace, options.visibility, standing)
  const values = { namespace, creator_id: null, name, path, visibility }
  return createWithSource(instance, values, from, cli).catch((error: unknown) => {
    if (error instanceof ForbiddenAddress) throw new Refusal(`the import failed: ${error.message}`)
    throw error instanceof GitError ? importFailure(error) : pathTaken(error)
  })
}

type Values = Parameters<typeof createWithRepository>[1]

/** A signal gives an import up in order, so that nothing of it stays; a second one ends the process at once. */
async function createWithSource(
  instance: Instance,
  values: Values,
  from: string | undefined,
  { progress }: Pick<Cli, 'progress'>,
): Promise<Project> {
  if (from === undefined) return createWithRepository(instance, values)
  const abort = new AbortController()
  const give = (): void => abort.abort()
  process.once('SIGINT', give)
  process.once('SIGTERM', give)
  try {
    return await createWithRepository(instance, values, {
      from,
      signal: abort.signal,
      onProgress: ({ phase, percent }) => progress.step(phase, percent),
    })
  } finally {
    progress.end()
    process.off('SIGINT', give)
    process.off('SIGTERM', give)
  }
}

/** git's own first complaint says more than the status it ended with. */
function importFailure(error: GitError): Refusal {
  if (error.fault === 'aborted') return new Refusal('the import was given up; nothing of it was kept')
  // Lines of complaint give the reason; other remote output is mostly progress.
  const said = [...error.stderr.matchAll(/^(?:remote: )?(?:fatal|error|ERROR): (.+)$/gm)]
    .map(([, line = '']) => line.trimEnd())
    .filter((line) => line !== 'Could not read from remote repository.')
  return new Refusal(`the import failed: ${said.length > 0 ? said.slice(-3).join('; ') : error.message}`)
}
