import type { Command } from 'commander'
import { linkTo } from '../core/people/invitation_mail.ts'
import { confirmEmail, listInvitations } from '../core/people/invitations.ts'
import { approvePromotions, denyPromotions, listPromotions } from '../core/people/promotions.ts'
import { ROLE_NAMES } from '../core/sight/roles.ts'
import { violates } from '../db/errors.ts'
import { Refusal, command, family, withInstance } from './command.ts'
import { readEmail } from './words.ts'

const UNDER = 'People'
const roleOf = (level: number): string => ROLE_NAMES.get(level) ?? String(level)

/** Commands about people who are not members yet: invited, waiting for an administrator, or not known by an address. */
export function addInvitations(program: Command): void {
  addList(family(program, 'invitation', 'Invitations to groups and projects'))
  addPromotions(family(program, 'promotion', 'Promotions that wait for an administrator'))
  addConfirm(family(program, 'email', 'Addresses of users'))
}

function addList(parent: Command): void {
  command({
    parent,
    name: 'list',
    description: 'list the invitations with their links',
    under: UNDER,
  }).action((options: object) =>
    withInstance({ ...options }, async ({ instance }, { say }) => {
      const all = (await listInvitations(instance.db)).map(({ sealed_token, ...invitation }) => ({
        ...invitation,
        link: linkTo(instance, sealed_token),
      }))
      const lines = all.map(
        ({ email, place, access_level, link }) => `${email}  ${place}  ${roleOf(access_level)}  ${link}`,
      )
      say(all, lines.length === 0 ? 'Nobody is invited.' : lines.join('\n'))
    }),
  )
}

function addPromotions(parent: Command): void {
  command({ parent, name: 'list', description: 'list the promotions that wait', under: UNDER }).action(
    (options: object) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const all = await listPromotions(instance.db)
        const lines = all.map(
          ({ username, place, access_level, requested_by }) =>
            `${username}  ${place}  ${roleOf(access_level)}  asked for by ${requested_by ?? 'nobody'}`,
        )
        say(all, lines.length === 0 ? 'No promotion waits.' : lines.join('\n'))
      }),
  )
  for (const [verb, done, decide] of [
    ['approve', 'has', approvePromotions],
    ['deny', 'does not get', denyPromotions],
  ] as const)
    command({ parent, name: verb, description: `${verb} all promotions of a user`, under: UNDER })
      .requiredOption('--user <username>', 'whose')
      .action((options: { user: string }) =>
        withInstance({ ...options }, async ({ instance }, { say }) => {
          const count = await decide(instance.db, options.user)
          if (count === 0) throw new Refusal(`no promotion of "${options.user}" waits`)
          say(
            { user: options.user, count },
            `${options.user} ${done} ${count === 1 ? 'the role' : `${count} roles`}.`,
          )
        }),
      )
}

function addConfirm(parent: Command): void {
  command({ parent, name: 'confirm', description: 'say that an address is the user’s', under: UNDER })
    .requiredOption('--user <username>', 'whose')
    .requiredOption('--email <address>', 'the address', readEmail)
    .action((options: { user: string; email: string }) =>
      withInstance({ ...options }, async ({ instance }, { say }) => {
        const { user, email } = options
        const count = await confirmEmail(instance.db, user, email).catch((error: unknown) => {
          throw violates(error, 'user_emails_email_key')
            ? new Refusal(`${email} is known to be somebody else's`)
            : error
        })
        if (count === 0) throw new Refusal(`"${user}" has no address ${email}`)
        say({ user, email }, `${email} is known to be ${user}'s.`)
      }),
    )
}
