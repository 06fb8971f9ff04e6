import type { Command } from 'commander'
import { sql } from 'kysely'
import { create as createToken, makeToken } from '../access/tokens.ts'
import * as groups from '../core/places/groups.ts'
import { insertLabel } from '../core/planning/labels.ts'
import * as members from '../core/people/members.ts'
import { ROLES, type RoleName } from '../core/sight/roles.ts'
import * as users from '../core/people/users.ts'
import type { Visibility } from '../db/schema/columns.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Instance } from '../instance.ts'
import { Refusal, command, withInstance, type Cli } from './command.ts'
import { createGroup, createProject, importOption } from './things.ts'
import { readAddress } from './words.ts'

const PEOPLE = [
  ['mira', 'Mira Okafor'],
  ['jonas', 'Jonas Lindqvist'],
  ['anika', 'Anika Rao'],
] as const
const GROUPS: readonly (readonly [string, string, Visibility])[] = [
  ['harbour', 'Harbour', 'public'],
  ['harbour/platform', 'Platform', 'public'],
  ['harbour/finance', 'Finance', 'private'],
]
const IMPORTED = 'harbour/platform/gateway'
// The one that may be imported comes first: when that fails there are no other repositories yet.
const PROJECTS: readonly (readonly [string, string, Visibility])[] = [
  [IMPORTED, 'Gateway', 'public'],
  ['harbour/website', 'Website', 'public'],
  ['harbour/finance/ledger', 'Ledger', 'private'],
]
const ROLES_GIVEN: readonly (readonly [string, string, RoleName])[] = [
  ['mira', 'harbour', 'owner'],
  ['jonas', 'harbour/platform', 'maintainer'],
  ['anika', 'harbour', 'reporter'],
]
const LABELS = [
  ['bug', '#D9534F', 'Something does not work'],
  ['feature', '#428BCA', 'Something new'],
  ['good first issue', '#5CB85C', 'A place to start'],
  ['security', '#8E44AD', 'Handle with care'],
] as const

const removeGroups = statement(
  (p: Slots<{ id: number }>) => sql`delete from namespaces where traversal_ids @> array[${p.id}]::bigint[]`,
)
const removeUsers = statement(
  (p: Slots<{ ids: number[] }>) => sql`delete from users where id = any(${p.ids}::bigint[])`,
)

export function addDemo(program: Command): void {
  command({
    parent: program,
    name: 'demo',
    description: 'make a small believable world to look at',
    under: 'Server',
  })
    .addOption(importOption(`the repository for ${IMPORTED}`))
    .action((options: { import?: string }) =>
      withInstance({ ...options }, async ({ instance }, cli) => {
        await checkFree(instance)
        const ids = await populate(instance)
        await addProjects(instance, cli, options.import).catch(async (error: unknown) => {
          await clear(instance, ids)
          throw error
        })
        const token = await tokenFor(instance, ids.get('mira') ?? 0)
        const value = { groups: pathsOf(GROUPS), projects: pathsOf(PROJECTS), user: 'mira', token }
        cli.say(value, summary(instance.config.url, token))
      }),
    )
}

const pathsOf = (made: readonly (readonly [string, ...unknown[]])[]): string[] => made.map(([path]) => path)

const summary = (url: string, token: string): string =>
  `Made ${GROUPS.length} groups, ${PROJECTS.length} projects, ${PEOPLE.length} people. With the server running, look:\n\n` +
  `  curl ${url}/api/v4/groups\n` +
  `  curl -H 'PRIVATE-TOKEN: ${token}' ${url}/api/v4/groups/harbour/labels\n` +
  `  curl -H 'PRIVATE-TOKEN: ${token}' '${url}/api/v4/groups/harbour/projects?include_subgroups=true'`

async function checkFree({ db }: Instance): Promise<void> {
  if (await groups.findByPath(db, 'harbour'))
    throw new Refusal('the path harbour is taken: is the demo there already?')
  for (const [username] of PEOPLE)
    if (await groups.findByPath(db, username)) throw new Refusal(`the name ${username} is taken already`)
}

/** Makes all but the projects, and returns the ids by path and user name. */
async function populate(instance: Instance): Promise<Map<string, number>> {
  const { db } = instance
  const ids = new Map<string, number>()
  for (const [username, name] of PEOPLE) {
    const user = { username, name, email: `${username}@harbour.example`, admin: false }
    ids.set(username, (await db.transaction((tx) => users.create(tx, user))).id)
  }
  for (const [path, name, visibility] of GROUPS)
    ids.set(path, (await createGroup(instance, { path: readAddress(path), name, visibility })).id)
  for (const [username, path, role] of ROLES_GIVEN)
    await members.setInGroup(db, {
      user_id: ids.get(username) ?? 0,
      namespace_id: ids.get(path) ?? 0,
      access_level: ROLES[role],
      expires_at: null,
    })
  for (const [title, color, description] of LABELS)
    await insertLabel(db, { group_id: ids.get('harbour') ?? 0, project_id: null, title, color, description })
  return ids
}

async function addProjects(instance: Instance, cli: Cli, source: string | undefined): Promise<void> {
  for (const [path, name, visibility] of PROJECTS) {
    const imported = path === IMPORTED && source !== undefined ? { import: source } : {}
    await createProject(instance, cli, { path: readAddress(path), name, visibility, ...imported })
  }
}

/** Takes away what `populate` made, so that the demo can be asked for again. */
async function clear({ db }: Instance, ids: ReadonlyMap<string, number>): Promise<void> {
  await db.run(removeGroups, { id: ids.get('harbour') ?? 0 })
  await db.run(removeUsers, { ids: PEOPLE.map(([username]) => ids.get(username) ?? 0) })
}

async function tokenFor({ db, settings }: Instance, userId: number): Promise<string> {
  const token = makeToken(settings.get('personal_access_token_prefix'))
  await createToken(db, { user_id: userId, name: 'demo', token, scopes: ['api'], expires_at: null })
  return token
}
