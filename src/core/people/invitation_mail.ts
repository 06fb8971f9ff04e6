import { sql } from 'kysely'
import { statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import type { Job } from '../../jobs/job.ts'
import { ROLE_NAMES } from '../sight/roles.ts'

/** Where an invitation is looked at: whoever has the link has it from the mail, or from an administrator. */
export const linkTo = ({ config, vault }: Pick<Instance, 'config' | 'vault'>, sealedToken: Buffer): string =>
  `${config.url}/-/invites?token=${vault.open(sealedToken)}`

interface Unsent {
  readonly id: number
  readonly email: string
  readonly access_level: number
  readonly sealed_token: Buffer
  readonly place: string
  readonly inviter: string | null
}
const unsent = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<Unsent>`
    select i.id, i.email, i.access_level, i.sealed_token, coalesce(n.full_path, p.full_path) as place, u.name as inviter
      from invitations i
      left join namespaces n on n.id = i.namespace_id left join projects p on p.id = i.project_id
      left join users u on u.id = i.created_by_id
     where i.id = any(${p.ids}::bigint[]) and i.mailed_at is null order by i.id`,
)
const sent = statement(
  (p: Slots<{ id: number }>) => sql`update invitations set mailed_at = now() where id = ${p.id}`,
)

/** On one line, whatever somebody put into a name. */
const line = (text: string): string => text.replaceAll(/\p{C}+/gu, ' ')

/** Sends the mail of invitations that still stand and have none yet. What could not be sent is tried again. */
export const sendInvitations: Job<{ ids: number[] }> = {
  name: 'send_invitations',
  run: async (instance, { ids }) => {
    const { config, db } = instance
    if (config.smtpUrl === undefined) return
    // Loaded here: a server that sends no mail never does.
    const { createTransport } = await import('nodemailer')
    const transport = createTransport(config.smtpUrl, { from: config.mailFrom })
    const failures: unknown[] = []
    try {
      for (const invitation of await db.rows(unsent, { ids })) {
        const { id, email, access_level, place, inviter } = invitation
        const role = ROLE_NAMES.get(access_level) ?? String(access_level)
        const who = inviter === null ? 'Somebody' : line(inviter)
        try {
          await transport.sendMail({
            to: { name: '', address: email },
            subject: `${who} invites you to ${line(place)}`,
            text:
              `${who} invites you to ${line(place)} as ${role}.\n\n${linkTo(instance, invitation.sealed_token)}\n\n` +
              `The role is yours as soon as you have an account with the address ${email} at ${config.url}.\n`,
          })
          await db.run(sent, { id })
        } catch (error) {
          failures.push(error)
        }
      }
    } finally {
      transport.close()
    }
    if (failures.length > 0) throw new AggregateError(failures, 'some invitations were not sent')
  },
}
