import type { FastifyInstance } from 'fastify'
import { digestOf } from '../access/tokens.ts'
import { findInvitation, type StandingInvitation } from '../core/people/invitations.ts'
import { ROLE_NAMES } from '../core/sight/roles.ts'
import type { Surroundings } from '../http/surroundings.ts'
import type { Instance } from '../instance.ts'

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign)

const page = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
}

const invited = ({ email, place, access_level }: StandingInvitation): string =>
  page(
    'You are invited',
    `${escaped(email)} is invited to <b>${escaped(place)}</b> as ${ROLE_NAMES.get(access_level) ?? access_level}. ` +
      'The role is yours as soon as you have an account here with this address: ask an administrator for one.',
  )

/** Where the link of an invitation leads: it tells what it is to, and what is to be done. */
export function mountInvites(
  app: FastifyInstance,
  { db }: Pick<Instance, 'db'>,
  admit: Surroundings['admit'],
): void {
  app.get('/-/invites', async (request, reply) => {
    // In the query, which the log leaves out.
    const { text: query } = request.query as { text: string }
    const found = await findInvitation(db, digestOf(new URLSearchParams(query).get('token') ?? ''))
    // A link that leads nowhere may be a guess.
    if (found === undefined) reply.headers(await admit(null, request.ip))
    const text =
      found === undefined ? page('No invitation', 'It was accepted, taken back, or is over.') : invited(found)
    return reply
      .code(found === undefined ? 404 : 200)
      .headers(headers)
      .send(text)
  })
}
