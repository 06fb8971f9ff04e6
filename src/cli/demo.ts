import type { Command } from 'commander'
import { SCOPES, create as createToken, makeToken } from '../access/tokens.ts'
import * as groups from '../core/groups.ts'
import * as members from '../core/members.ts'
import { ROLES, type RoleName } from '../core/roles.ts'
import * as users from '../core/users.ts'
import { q, statement, type Slots } from '../db/statement.ts'
import type { Visibility } from '../db/schema.ts'
import type { Instance } from '../instance.ts'
import { Refusal, command, withInstance } from './command.ts'
import { createGroup, createProject } from './things.ts'

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
const PROJECTS: readonly (readonly [string, string, Visibility])[] = [
  ['harbour/website', 'Website', 'public'],
  ['harbour/platform/gateway', 'Gateway', 'public'],
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

const insertLabel = statement(
  (p: Slots<{ group_id: number; title: string; color: string; description: string }>) =>
    q
      .insertInto('labels')
      .values({ group_id: p.group_id, title: p.title, color: p.color, description: p.description }),
)

export function addDemo(program: Command): void {
  command(program, 'demo', 'fill the server with a small believable world to look at')
    .option('--import <url-or-path>', 'the repository for harbour/platform/gateway')
    .action((options: { import?: string }) =>
      withInstance({ ...options }, async ({ instance }, cli) => {
        if (await groups.findByPath(instance.db, 'harbour'))
          throw new Refusal('the demo is there already: see group harbour')
        await populate(instance)
        for (const [path, name, visibility] of PROJECTS) {
          const source = path.endsWith('gateway') && options.import ? { import: options.import } : {}
          await createProject(instance, cli, { path, name, visibility, ...source })
        }
        const token = await tokenFor(instance, 'mira')
        const url = instance.config.url
        cli.say(
          {
            groups: GROUPS.map(([path]) => path),
            projects: PROJECTS.map(([path]) => path),
            user: 'mira',
            token,
          },
          `Made ${GROUPS.length} groups, ${PROJECTS.length} projects, ${PEOPLE.length} people.\n\n` +
            `  curl ${url}/api/v4/groups\n` +
            `  curl -H 'PRIVATE-TOKEN: ${token}' ${url}/api/v4/groups/harbour/labels\n` +
            `  curl -H 'PRIVATE-TOKEN: ${token}' '${url}/api/v4/groups/harbour/projects?include_subgroups=true'`,
        )
      }),
    )
}

async function populate(instance: Instance): Promise<void> {
  const { db } = instance
  const ids = new Map<string, number>()
  for (const [username, name] of PEOPLE) {
    const known = await users.findByUsername(db, username)
    if (known) throw new Refusal(`there is a user "${username}" already`)
    const user = { username, name, email: `${username}@harbour.example`, admin: false }
    ids.set(username, (await db.transaction((tx) => users.create(tx, user))).id)
  }
  for (const [path, name, visibility] of GROUPS)
    ids.set(path, (await createGroup(instance, { path, name, visibility })).id)
  for (const [username, path, role] of ROLES_GIVEN)
    await members.setInGroup(db, {
      user_id: ids.get(username) ?? 0,
      namespace_id: ids.get(path) ?? 0,
      access_level: ROLES[role],
      expires_at: null,
    })
  for (const [title, color, description] of LABELS)
    await db.run(insertLabel, { group_id: ids.get('harbour') ?? 0, title, color, description })
}

async function tokenFor({ db, settings }: Instance, username: string): Promise<string> {
  const user = await users.findByUsername(db, username)
  if (user === undefined) throw new Error('the demo user is not there')
  const token = makeToken(settings.get('personal_access_token_prefix'))
  const scopes = SCOPES.filter((scope) => scope === 'api')
  await createToken(db, { user_id: user.id, name: 'demo', token, scopes, expires_at: null })
  return token
}
