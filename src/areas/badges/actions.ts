import type { Static } from 'typebox'
import type { Project } from '../../core/places/projects.ts'
import type { Badge as Row } from '../../db/schema/badges.ts'
import type { Listed } from '../../db/pages.ts'
import type { Context } from '../../http/gate.ts'
import type { PageRequest } from '../../http/operation.ts'
import { present, presentPreview, type Badge, type BadgePreview } from './entity.ts'
import { checkUrls, type Given } from './params.ts'
import { valuesInGroup, valuesInProject, type Urls } from './rendering.ts'
import type { Values } from './rules.ts'
import * as badges from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

// Shared by the badges of projects and groups.

/** The owner of the badges, and the project they are rendered for. */
interface Place {
  readonly reach: badges.Reach
  readonly values: (ctx: Context, badges: readonly Urls[]) => Promise<Values | undefined>
}
/** Those of the groups that the project is in are among them. */
export const ofProject = (project: Project): Place => ({
  reach: { project_id: project.id, line: project.traversal_ids },
  values: (ctx, rows) => valuesInProject(ctx, project, rows),
})
export const ofGroup = (group: { readonly id: number }): Place => ({
  reach: { project_id: null, line: [group.id] },
  values: (ctx, rows) => valuesInGroup(ctx, group, rows),
})

type Shown = Static<typeof Badge>
type With<Params> = Context & { readonly params: Params }

export async function list(
  ctx: With<{ readonly name?: string }> & { readonly page: PageRequest },
  { reach, values }: Place,
): Promise<Listed<Shown>> {
  const { db, params, page } = ctx
  const found = await badges.list(db, reach, { name: params.name, ...page })
  const filled = await values(ctx, found.items)
  return presentPage(found, (row) => present(row, filled))
}

export const show = async (ctx: Context, badge: Row, { values }: Place): Promise<Shown> =>
  present(badge, await values(ctx, [badge]))

export async function preview(
  ctx: With<Required<Given>>,
  { values }: Place,
): Promise<Static<typeof BadgePreview>> {
  const row = { name: null, ...checkUrls(ctx.params) }
  return presentPreview(row, await values(ctx, [row]))
}

export async function create(
  ctx: With<Required<Given> & { readonly name?: string }>,
  place: Place,
): Promise<Shown> {
  const { link_url, image_url, name = null } = checkUrls(ctx.params)
  const row = await ctx.transact(ctx, ({ db }) =>
    badges.insert(db, place.reach, { name, link_url, image_url }),
  )
  return show(ctx, row, place)
}

type OfOne<C> = C & { readonly badge: Row }
export async function change(
  ctx: OfOne<With<Given & { readonly name?: string }>>,
  place: Place,
): Promise<Shown> {
  const { link_url = null, image_url = null, name = null } = checkUrls(ctx.params)
  const { id } = ctx.badge
  const row = await ctx.transact(ctx, ({ db }) =>
    badges.update(db, place.reach, { id, link_url, image_url, name }),
  )
  return show(ctx, row, place)
}

export async function remove(ctx: OfOne<Context>, { reach }: Place): Promise<null> {
  await ctx.transact(ctx, ({ db, badge }) => badges.remove(db, reach, badge.id))
  return null
}
