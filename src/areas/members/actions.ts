import { existing } from '../../db/rows.ts'
import { Type as t, type Static, type TSchema } from 'typebox'
import { QUEUED, maySetLevel, queuesPromotions } from '../../access/gates/member_gates.ts'
import { faultOf, judgeChange, type Fault, type Source } from '../../core/people/membership.ts'
import { loads, type Actor, type Has } from '../../http/gate.ts'
import { nothing, pageOf, type PageRequest } from '../../http/operation.ts'
import { forbidden, invalid, type Problem } from '../../http/problems.ts'
import { date, listOf, nullable } from '../../http/params/schema.ts'
import { UserBasic, presentUser } from '../../records/people/user.ts'
import { Added, Member, present } from './entity.ts'
import { isLastOwner, remove, update } from './changes_store.ts'
import * as members from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

// Shared by the members of groups and projects.

export type Here = Has<{ source: Source; actor: Actor }>
export type With<Params> = Here & { readonly params: Params }

type Listing<Params extends TSchema> = With<Static<Params>> & { readonly page: PageRequest }

const userFilters = t.Object({
  search: t.Optional(t.String({ maxLength: 1_000, description: 'Part of the name or user name' })),
  skip_users: t.Optional(listOf(t.Integer())),
})
/** All who are members there by whatever way, shown as users, without their roles. */
export const listingUsers = {
  params: userFilters,
  handle: async (ctx: Listing<typeof userFilters>) => {
    const { db, actor, source, params, page } = ctx
    const { search: query, skip_users } = params
    const found = await members.list(db, actor, source, { all: true, query, skip_users, page })
    return presentPage(found, (row) => presentUser(row, ctx))
  },
  returns: pageOf(UserBasic),
}

const filters = t.Object({
  query: t.Optional(t.String({ description: 'Part of the name or user name' })),
  user_ids: t.Optional(listOf(t.Integer())),
  skip_users: t.Optional(listOf(t.Integer())),
})
const lists = (all: boolean) =>
  ({
    params: filters,
    handle: async (ctx: Listing<typeof filters>) => {
      const { db, actor, source, params, page } = ctx
      const found = await members.list(db, actor, source, { all, ...params, page })
      return presentPage(found, (row) => present(row, ctx))
    },
    returns: pageOf(Member),
  }) as const
export const listing = lists(false)
export const listingAll = lists(true)

const memberGate = (all: boolean, says: string) =>
  loads({
    param: 'user_id',
    type: t.Integer(),
    as: 'member',
    says,
    find: ({ db, actor, source }: Here, userId) => members.find(db, actor, source, { all, userId }),
  })
export const member = memberGate(false, 'somebody who was given a role there')
export const memberOfAny = memberGate(true, 'a member there, by whatever way')

type WithMember = Here & { readonly member: members.Member }

export const showing = {
  handle: async (ctx: WithMember) => present(ctx.member, ctx),
  returns: Member,
} as const

export const invalidBy = ({ field, text }: Fault): Problem => invalid({ [field]: [text] })

/** Whether the role would end on an earlier day than it does. */
const endsSooner = ({ expires_at }: members.Member, to: string | null | undefined): boolean =>
  typeof to === 'string' && (expires_at === null || to < expires_at)

const changes = t.Object({ access_level: t.Integer(), expires_at: t.Optional(nullable(date())) })
export const changing = {
  params: changes,
  handle: async (ctx: WithMember & With<Static<typeof changes>>): Promise<Static<typeof Added>> => {
    const { db, actor, source, member, params, now } = ctx
    const { access_level } = params
    for (const level of [member.access_level, access_level])
      if (!maySetLevel(actor, source, level)) throw forbidden()
    const { expires_at } = params
    const wish = { access_level, expires_at: expires_at ?? null }
    const fault = faultOf(source, wish, now.toISOString().slice(0, 10))
    if (fault !== undefined) throw invalidBy(fault)
    const moves = access_level !== member.access_level
    if ((moves || endsSooner(member, expires_at)) && (await isLastOwner(db, source, member)))
      throw forbidden()
    if (moves) {
      const queues = queuesPromotions(ctx, actor)
      const judged = await judgeChange(db, source, member.id, { ...wish, by: actor.id, queues })
      if (judged === 'queued') return { message: { [member.username]: QUEUED } }
      if (judged !== undefined) throw invalidBy(judged)
    }
    await update(db, source, member.id, { access_level, expires_at, by: actor.id })
    const changed = await members.find(db, actor, source, { all: false, userId: member.id })
    return present(existing(changed), ctx)
  },
  returns: Added,
  refuses: [forbidden, invalid({ access_level: ['is not included in the list'] })],
} as const

const removal = t.Object({
  skip_subresources: t.Boolean({ default: false, description: 'Leave the roles on what is inside' }),
  unassign_issuables: t.Boolean({ default: false }),
})
export const removing = {
  params: removal,
  handle: async (ctx: WithMember & With<Static<typeof removal>>): Promise<null> => {
    const { db, actor, source, member, params } = ctx
    if (member.id !== actor.id && !maySetLevel(actor, source, member.access_level)) throw forbidden()
    if (await isLastOwner(db, source, member)) throw forbidden()
    await remove(db, source, member.id, {
      below: !params.skip_subresources,
      unassign: params.unassign_issuables,
      by: actor.id,
    })
    return null
  },
  returns: nothing,
  refuses: [forbidden],
} as const
