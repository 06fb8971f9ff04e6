import { Type as t, type Static } from 'typebox'
import { anyone, project, signedIn } from '../../access/gates/gates.ts'
import * as users from '../../core/people/users.ts'
import type { Listed } from '../../db/pages.ts'
import type { User } from '../../db/schema/tables.ts'
import { loads, type Actor, type Context } from '../../http/gate.ts'
import { operation, pageOf, type PageRequest } from '../../http/operation.ts'
import { date, oneOf } from '../../http/params/schema.ts'
import { notFound } from '../../http/problems.ts'
import { ACTIVITIES } from '../../outbox/record.ts'
import { Event, presentEvent } from './entity.ts'
import * as events from './store.ts'

const TARGETS = ['issue', 'milestone', 'merge_request', 'note', 'project', 'snippet', 'user'] as const

const filters = {
  action: t.Optional(oneOf(ACTIVITIES)),
  target_type: t.Optional(oneOf(TARGETS)),
  before: t.Optional(date()),
  after: t.Optional(date()),
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
}
const params = t.Object(filters)

interface Listing extends Context {
  readonly actor: Actor | null
  readonly params: Static<typeof params>
  readonly page: PageRequest
}
async function list(ctx: Listing, of: events.Of): Promise<Listed<Static<typeof Event>>> {
  const { action, target_type, before, after, sort } = ctx.params
  const given = {
    of,
    sort,
    ...(action !== undefined && { action }),
    ...(target_type !== undefined && { target_type }),
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
  }
  const { items, total } = await events.listEvents(ctx.db, ctx.actor, given, { ...ctx.page })
  const notes = await events.notesOf(ctx.db, items)
  const noteOf = (row: (typeof items)[number]) =>
    row.target_type === 'note' ? notes.get(row.target_id ?? 0) : undefined
  return { items: items.map((row) => presentEvent(row, noteOf(row), ctx)), total }
}

export const listEvents = operation({
  method: 'GET',
  path: '/events',
  summary: 'List one’s own events, or those of one’s projects',
  published: true,
  scopes: ['read_user'],
  first: [signedIn],
  params: t.Object({ ...filters, scope: t.Optional(t.String({ description: '`all`: of one’s projects' })) }),
  gates: [],
  handle: (ctx) => list(ctx, { kind: ctx.params.scope === 'all' ? 'projects' : 'author', id: ctx.actor.id }),
  returns: pageOf(Event),
})

/** By id or user name. */
const user = loads({
  param: 'id',
  type: t.String({ description: 'The id or user name of the user' }),
  as: 'user',
  says: 'a user',
  missing: () => notFound('User'),
  find: ({ db }: Context, ref: string): Promise<User | undefined> =>
    /^\d{1,15}$/.test(ref) ? users.find(db, Number(ref)) : users.findByUsername(db, ref),
})

export const listEventsOfUser = operation({
  method: 'GET',
  path: '/users/:id/events',
  summary: 'List the events of a user, none where the profile is private',
  published: true,
  scopes: ['read_user'],
  params,
  gates: [anyone, user],
  handle: async (ctx) => {
    const { actor, user } = ctx
    const isHidden = user.private_profile && actor?.admin !== true && actor?.id !== user.id
    return isHidden ? { items: [], total: 0 } : list(ctx, { kind: 'author', id: user.id })
  },
  returns: pageOf(Event),
})

export const listProjectEvents = operation({
  method: 'GET',
  path: '/projects/:id/events',
  summary: 'List the events of a project that the caller sees',
  published: true,
  params,
  gates: [project, anyone],
  handle: (ctx) => list(ctx, { kind: 'project', id: ctx.project.id }),
  returns: pageOf(Event),
})
