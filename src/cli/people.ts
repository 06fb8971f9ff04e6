import { text } from 'node:stream/consumers'
import { Option, type Command } from 'commander'
import { setPassword } from '../access/passwords.ts'
import { SCOPES, create as createToken, makeToken, type Scope } from '../access/tokens.ts'
import * as groups from '../core/places/groups.ts'
import * as members from '../core/people/members.ts'
import * as projects from '../core/places/projects.ts'
import { ROLES } from '../core/sight/roles.ts'
import * as users from '../core/people/users.ts'
import type { Db } from '../db/db.ts'
import type { User } from '../db/schema/tables.ts'
import { Misuse, Refusal, command, family, withInstance } from './command.ts'
import { readDay, readEmail, readName, readRole, readScopes, readUsername, type Role } from './words.ts'

const UNDER = 'People'

/** Commands about people: users, their tokens, their memberships. */
export function addPeople(program: Command): void {
  const user = family(program, 'user', 'Users')
  addUser(user)
  addPassword(user)
  addToken(family(program, 'token', 'Access tokens'))
  addMember(family(program, 'member', 'Members of groups and projects'))
}

interface UserOptions {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly admin?: boolean
}

function addUser(parent: Command): void {
  command({ parent, name: 'create', description: 'create a user', under: UNDER })
    .requiredOption('--username <name>', 'the name in addresses', readUsername)
    .requiredOption('--name <text>', 'the name for people', readName)
    .requiredOption('--email <address>', 'the mail address', readEmail)
    .option('--admin', 'make it an administrator')
    .action((options: UserOptions) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const { username, name, email, admin = false } = options
        const user = await instance.db
          .transaction((tx) => users.create(tx, { username, name, email, admin }))
          .catch((error: unknown) => {
            throw userTaken(error)
          })
        say({ id: user.id, username, name, email, admin }, `Created user ${username} (id ${user.id}).`)
      }),
    )
}

interface PasswordOptions {
  readonly user: string
}

/** A password comes by standard input: the words of a command are seen by everybody on the machine. */
function addPassword(parent: Command): void {
  command({
    parent,
    name: 'password',
    description: 'give a user a password for the console, read from standard input',
    under: UNDER,
  })
    .requiredOption('--user <username>', 'the user name')
    .action((options: PasswordOptions) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const user = await findUser(instance.db, options.user)
        const password = (await text(process.stdin)).replace(/\r?\n$/, '')
        if (password.length < 8 || password.length > 128)
          throw new Refusal('a password has 8 to 128 characters')
        await setPassword(instance.db, user.id, password)
        say(
          { id: user.id, username: user.username },
          `${user.username} has a new password; sessions have ended.`,
        )
      }),
    )
}

function userTaken(error: unknown): unknown {
  const taken = users.takenName(error)
  return taken === undefined ? error : new Refusal(`--${taken.toLowerCase()} has already been taken`)
}

interface TokenOptions {
  readonly user: string
  readonly name: string
  readonly scopes: Scope[]
  readonly expiresAt?: string
}

function addToken(parent: Command): void {
  command({
    parent,
    name: 'create',
    description: 'create a personal access token, shown this once',
    under: UNDER,
  })
    .requiredOption('--user <username>', 'whose token')
    .option('--name <text>', 'what it is for', readName, 'command line')
    .addOption(
      new Option('--scopes <list>', `what it may do, separated by commas: ${SCOPES.join(', ')}`)
        .argParser(readScopes)
        .default(['api'], 'api'),
    )
    .option('--expires-at <date>', 'the first day without it, YYYY-MM-DD; without this, it stays', readDay)
    .action((options: TokenOptions) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const user = await findUser(instance.db, options.user)
        const token = makeToken(instance.settings.get('personal_access_token_prefix'))
        const { name, scopes, expiresAt: expires_at = null } = options
        const values = { user_id: user.id, name, scopes, expires_at }
        const id = await createToken(instance.db, { ...values, token })
        say({ id, token, ...values }, token)
      }),
    )
}

interface MemberOptions {
  readonly group?: string
  readonly project?: string
  readonly user: string
  readonly role: Role
  readonly expiresAt?: string
}

function addMember(parent: Command): void {
  const roles = Object.entries(ROLES).map(([name, level]) => `${name} (${level})`)
  command({ parent, name: 'add', description: 'give a user a role, or another one', under: UNDER })
    .addOption(new Option('--group <path>', 'the full path of a group').conflicts('project'))
    .option('--project <path>', 'or the full path of a project')
    .requiredOption('--user <username>', 'who')
    .requiredOption('--role <name>', `one of ${roles.join(', ')}`, readRole)
    .option('--expires-at <date>', 'the first day without it, YYYY-MM-DD; without this, it stays', readDay)
    .action(async (options: MemberOptions) => {
      if (options.group === undefined && options.project === undefined)
        throw new Misuse('name a --group or a --project')
      await withInstance({ ...options }, async ({ instance }, { say }) => {
        const { role, expiresAt: expires_at = null } = options
        const user = await findUser(instance.db, options.user)
        const membership = { user_id: user.id, access_level: role.level, expires_at }
        const where = await giveRole(instance.db, options, membership)
        say(
          { ...membership, ...where },
          `${user.username} now has role ${role.name} on ${options.group ?? options.project}.`,
        )
      })
    })
}

async function giveRole(
  db: Db,
  { group, project = '' }: MemberOptions,
  membership: members.Membership,
): Promise<object> {
  if (group !== undefined) {
    const found = await groups.findByPath(db, group)
    if (found?.kind !== 'group') throw new Refusal(`there is no group "${group}"`)
    await members.setInGroup(db, { ...membership, namespace_id: found.id })
    return { group_id: found.id }
  }
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
