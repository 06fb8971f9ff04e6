import type { FastifyReply, FastifyRequest } from 'fastify'
import { openQuery } from './answers/pages.ts'
import { rejected, type Problem } from './problems.ts'

/** Thrown where the record that a path names by `:id` has another address now; its id stays. */
export class Redirect extends Error {
  readonly id: number
  readonly site: string

  constructor(id: number, site: string) {
    super('a record has moved')
    this.id = id
    this.site = site
  }
}

/** Writes are not redirected. */
export const hasMoved = (): Problem => rejected('Non GET methods are not allowed for moved projects')

/** Leads the caller on to the same place by the id of the record. */
export function sendMoved(
  request: FastifyRequest,
  reply: FastifyReply,
  { id, site }: Redirect,
): FastifyReply {
  const [path = ''] = request.url.split('?', 1)
  const place = (request.routeOptions.url ?? '').split('/').indexOf(':id')
  const rest = openQuery((request.query as { text: string }).text)
  const location = `${site}${path.split('/').with(place, String(id)).join('/')}${rest && `?${rest}`}`
  return reply
    .code(301)
    .headers({ location, 'content-type': 'text/plain' })
    .send(Buffer.from(`This resource has been moved permanently to ${location}.`))
}
