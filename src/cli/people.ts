import { Option, type Command } from 'commander'
import { SCOPES, create as createToken, makeToken, type Scope } from '../access/tokens.ts'
import * as groups from '../core/groups.ts'
import * as members from '../core/members.ts'
import { pathFault } from '../core/paths.ts'
import * as projects from '../core/projects.ts'
import { ROLES, type RoleName } from '../core/roles.ts'
import * as users from '../core/users.ts'
import { violates, type Db } from '../db/client.ts'
import type { User } from '../db/schema.ts'
import { Refusal, command, withInstance } from './command.ts'

/** Commands about people: users, their tokens, their memberships. */
export function addPeople(program: Command): void {
  addUser(program)
  addToken(program)
  addMember(program)
}

interface UserOptions {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly admin?: boolean
}

function addUser(program: Command): void {
  command(program.command('user').description('users'), 'create', 'create a user with a personal namespace')
    .requiredOption('--username <name>', 'the name in addresses')
    .requiredOption('--name <text>', 'the name for people')
    .requiredOption('--email <address>', 'the mail address')
    .option('--admin', 'make it an administrator')
    .action((options: UserOptions) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const { username, name, email, admin = false } = options
        const fault = pathFault(username, true)
        if (fault !== undefined) throw new Refusal(`--username ${fault}`)
        if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new Refusal('--email is not a mail address')
        const user = await instance.db
          .transaction((tx) => users.create(tx, { username, name, email, admin }))
          .catch((error: unknown) => {
            throw userTaken(error)
          })
        say({ id: user.id, username, name, email, admin }, `Created user ${username} (id ${user.id}).`)
      }),
    )
}

function userTaken(error: unknown): unknown {
  if (violates(error, 'users_email_key')) return new Refusal('--email has already been taken')
  const byName = ['users_username_key', 'routes_pkey', 'namespaces_full_path_key'].some((name) =>
    violates(error, name),
  )
  return byName ? new Refusal('--username has already been taken') : error
}

interface TokenOptions {
  readonly user: string
  readonly name: string
  readonly scopes: string
  readonly expiresAt?: string
}

function addToken(program: Command): void {
  command(
    program.command('token').description('access tokens'),
    'create',
    'create a personal access token, shown once',
  )
    .requiredOption('--user <username>', 'whose token')
    .option('--name <text>', 'what it is for', 'command line')
    .option('--scopes <list>', `what it may do, separated by commas: ${SCOPES.join(', ')}`, 'api')
    .option('--expires-at <date>', 'the first day without it, YYYY-MM-DD')
    .action((options: TokenOptions) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const user = await findUser(instance.db, options.user)
        const scopes = readScopes(options.scopes)
        const expires_at = readDay(options.expiresAt)
        const token = makeToken(instance.settings.get('personal_access_token_prefix'))
        const id = await createToken(instance.db, {
          user_id: user.id,
          name: options.name,
          token,
          scopes,
          expires_at,
        })
        say({ id, token, name: options.name, scopes, expires_at, user_id: user.id }, token)
      }),
    )
}

function readScopes(list: string): Scope[] {
  return list.split(',').map((word) => {
    const scope = SCOPES.find((each) => each === word.trim())
    if (scope === undefined)
      throw new Refusal(`--scopes: there is no scope "${word.trim()}"; there are ${SCOPES.join(', ')}`)
    return scope
  })
}

function readDay(given: string | undefined): string | null {
  if (given === undefined) return null
  const time = Date.parse(`${given}T00:00:00Z`)
  if (
    !/^\d{4}-\d\d-\d\d$/.test(given) ||
    Number.isNaN(time) ||
    !new Date(time).toISOString().startsWith(given)
  )
    throw new Refusal(`--expires-at takes a day such as 2030-01-31, not "${given}"`)
  return given
}

interface MemberOptions {
  readonly group?: string
  readonly project?: string
  readonly user: string
  readonly role: string
  readonly expiresAt?: string
}

function addMember(program: Command): void {
  command(
    program.command('member').description('members of groups and projects'),
    'add',
    'give a user a role',
  )
    .addOption(new Option('--group <path>', 'the full path of a group').conflicts('project'))
    .option('--project <path>', 'the full path of a project')
    .requiredOption('--user <username>', 'who')
    .requiredOption('--role <name>', `one of ${Object.keys(ROLES).join(', ')}, or its number`)
    .option('--expires-at <date>', 'the first day without it, YYYY-MM-DD')
    .action((options: MemberOptions) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const user = await findUser(instance.db, options.user)
        const access_level = readRole(options.role)
        const membership = { user_id: user.id, access_level, expires_at: readDay(options.expiresAt) }
        const where = await giveRole(instance.db, options, membership)
        say(
          { ...membership, ...where },
          `${user.username} now has role ${options.role} on ${options.group ?? options.project}.`,
        )
      }),
    )
}

async function giveRole(
  db: Db,
  { group, project }: MemberOptions,
  membership: members.Membership,
): Promise<object> {
  if (group !== undefined) {
    const found = await groups.findByPath(db, group)
    if (found?.kind !== 'group') throw new Refusal(`there is no group "${group}"`)
    await members.setInGroup(db, { ...membership, namespace_id: found.id })
    return { group_id: found.id }
  }
  if (project === undefined) throw new Refusal('name a --group or a --project')
  const found = await projects.findByRef(db, project)
  if (found === undefined) throw new Refusal(`there is no project "${project}"`)
  await members.setInProject(db, { ...membership, project_id: found.id })
  return { project_id: found.id }
}

async function findUser(db: Db, username: string): Promise<User> {
  const user = await users.findByUsername(db, username)
  if (user === undefined) throw new Refusal(`there is no user "${username}"`)
  return user
}

function readRole(given: string): number {
  const byName = ROLES[given.toLowerCase() as RoleName] as number | undefined
  const level = byName ?? Number(given)
  if (!Object.values<number>(ROLES).includes(level))
    throw new Refusal(`--role: there is no role "${given}"; there are ${Object.keys(ROLES).join(', ')}`)
  return level
}
