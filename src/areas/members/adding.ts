import { existing } from '../../db/rows.ts'
import { Type as t, type Static } from 'typebox'
import { LIMIT, QUEUED, TOO_MANY, maySetLevel, queuesPromotions } from '../../access/gates/member_gates.ts'
import {
  faultOf,
  giveRole,
  sentenceOf,
  usernamesOf,
  type Fault,
  type Told,
  type Wish,
} from '../../core/people/membership.ts'
import { conflict, forbidden, invalid, notFound, type Problem } from '../../http/problems.ts'
import { date, listOf } from '../../http/params/schema.ts'
import { Added, present } from './entity.ts'
import { invalidBy, type Here, type With } from './actions.ts'
import * as members from './store.ts'

// Giving roles to those who have none there yet, one by one or several at once.

const exists = (): Problem => conflict('Member already exists')
const noUser = (): Problem => notFound('User')

const wanted = t.Object(
  {
    access_level: t.Integer(),
    user_id: t.Optional(listOf(t.Integer())),
    username: t.Optional(t.String({ description: 'Or the user name; several with commas' })),
    expires_at: t.Optional(date()),
    invite_source: t.Optional(t.String()),
  },
  { atLeastOne: ['user_id', 'username'], atMostOne: ['user_id', 'username'] },
)
export const adding = {
  params: wanted,
  handle: async (ctx: With<Static<typeof wanted>>): Promise<Static<typeof Added>> => {
    const { db, actor, source, params, now } = ctx
    if (!maySetLevel(actor, source, params.access_level)) throw forbidden()
    const names = params.username?.split(',').map((name) => name.trim()) ?? []
    const several = (params.user_id?.length ?? names.length) > 1
    if ((params.user_id?.length ?? names.length) > LIMIT) return { status: 'error', message: TOO_MANY }
    const named = names.length === 0 ? [] : await members.findByUsernames(db, names)
    const ids = params.user_id ?? named.map(({ id }) => id)
    const wish = {
      access_level: params.access_level,
      expires_at: params.expires_at ?? null,
      by: actor.id,
      queues: queuesPromotions(ctx, actor),
    }
    const fault = faultOf(source, wish, now.toISOString().slice(0, 10))
    const known = new Set(named.map(({ username }) => username.toLowerCase()))
    const unknown = names.filter((name) => !known.has(name.toLowerCase()))
    if (several) return addSeveral(ctx, { ids: [...new Set(ids)], unknown }, wish, fault)
    const [id] = ids
    if (id === undefined) throw noUser()
    return addOne(ctx, id, wish, fault)
  },
  returns: Added,
  refuses: [forbidden, exists, noUser, invalid({ access_level: ['is not included in the list'] })],
} as const

async function addOne(
  ctx: Here,
  id: number,
  wish: Wish,
  fault: Fault | undefined,
): Promise<Static<typeof Added>> {
  const { db, actor, source } = ctx
  const known = await members.find(db, actor, source, { all: false, userId: id })
  if (known !== undefined) throw exists()
  if (fault !== undefined) throw invalidBy(fault)
  const [told] = await giveRole(db, source, [id], wish)
  if (told === undefined || told.outcome.is === 'absent') throw noUser()
  if (told.outcome.is === 'known') throw exists()
  if (told.outcome.is === 'refused') throw invalidBy(told.outcome)
  if (told.outcome.is === 'queued') return { message: { [told.username ?? '']: QUEUED } }
  return present(existing(await members.find(db, actor, source, { all: false, userId: id })), ctx)
}

/** Results by user name or, where it is unknown, as given. */
type Sentence = [who: string, text: string]

async function addSeveral(
  { db, source }: Here,
  { ids, unknown }: { readonly ids: readonly number[]; readonly unknown: readonly string[] },
  wish: Wish,
  fault: Fault | undefined,
): Promise<Static<typeof Added>> {
  const told = await giveRole(db, source, fault === undefined ? ids : [], wish)
  const refused: Sentence[] =
    fault === undefined
      ? [...told.flatMap(refusalOf), ...unknown.map((name): Sentence => [name, 'User not found'])]
      : (await usernamesOf(db, ids)).map((name) => [name, sentenceOf(fault)])
  const queued = told.flatMap(({ username, outcome }): Sentence[] =>
    outcome.is === 'queued' ? [[username ?? '', QUEUED]] : [],
  )
  return {
    status: refused.length === 0 ? 'success' : 'error',
    ...(refused.length > 0 && { message: Object.fromEntries(refused) }),
    ...(queued.length > 0 && { queued_users: Object.fromEntries(queued) }),
  }
}

/** Present members are reported as such, which changes nothing. */
function refusalOf({ id, username, outcome }: Told): Sentence[] {
  switch (outcome.is) {
    case 'refused':
      return [[username ?? '', sentenceOf(outcome)]]
    case 'known':
      return [[username ?? '', 'User already exists in source']]
    case 'absent':
      return [[String(id), 'User not found']]
    default:
      return []
  }
}
