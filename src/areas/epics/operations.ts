import { Type as t, type Static, type TObject } from 'typebox'
import { ofEpic } from '../../access/conversation_records.ts'
import { fitting, mismatch } from '../../access/epic_fit.ts'
import { anyone, group, groupPlanner, signedIn } from '../../access/gates/gates.ts'
import { epic } from '../../access/gates/noteable_gates.ts'
import { premiumOrForbidden, premiumPlanOrForbidden } from '../../access/tiers.ts'
import { dateDeed } from '../../core/values/deed_time.ts'
import { EPIC_IN_THE_OPEN } from '../../core/planning/epic_secrecy.ts'
import {
  changeEpic,
  createEpic as insertEpic,
  labelEpic,
  type EpicChange,
  type EpicDeed,
} from '../../core/planning/epics.ts'
import type { Group } from '../../core/places/groups.ts'
import { hexColor } from '../../core/planning/label_rules.ts'
import { overlong } from '../../core/planning/labelling.ts'
import { hearDescription } from '../../core/conversation/mentions.ts'
import {
  madeConfidential,
  applyQuickActions,
  type QuickActionResult,
} from '../../core/quick_actions/apply.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { titleFaults } from '../../core/values/titles.ts'
import type { Epic as EpicRow } from '../../db/schema/planning.ts'
import { allows, type Actor, type Context, type Has } from '../../http/gate.ts'
import { LONG_TEXT, nothing, operation } from '../../http/operation.ts'
import { badParams, forbidden, invalid } from '../../http/problems.ts'
import { date, listOf, nullable, oneOf, timestamp } from '../../http/params/schema.ts'
import { Epic, presentEpic } from './entity.ts'
import * as epics from './store.ts'

export { addEpicIssue, listEpicIssues, removeEpicIssue } from './issue_operations.ts'
export { listEpics } from './list_operations.ts'

const titles = t.Optional(listOf(t.String({ maxLength: 255 })))

export const getEpic = operation({
  method: 'GET',
  path: '/groups/:id/epics/:epic_iid',
  summary: 'Get an epic',
  published: true,
  first: [premiumOrForbidden],
  gates: [group, premiumPlanOrForbidden.group, anyone, epic],
  handle: async (ctx) => presentEpic(await epics.showEpic(ctx.db, ctx.epic.id), ctx),
  returns: Epic,
})

const fixed = t.Optional(nullable(date()))
const common = {
  description: t.Optional(nullable(t.String({ maxLength: 1_000_000 }))),
  labels: titles,
  confidential: t.Optional(t.Boolean()),
  color: t.Optional(t.String({ maxLength: 255 })),
  start_date_is_fixed: t.Optional(t.Boolean()),
  start_date_fixed: fixed,
  due_date_is_fixed: t.Optional(t.Boolean()),
  due_date_fixed: fixed,
}
type Given = Partial<Static<TObject<typeof common>>> & {
  readonly title?: string
  readonly add_labels?: string[]
  readonly remove_labels?: string[]
}

/** Throws what is wrong with the epic that this would make; answers its colour. */
function check(given: Given): string | undefined {
  const { title, color } = given
  const names = overlong(given)
  if (names.length > 0) throw badParams(names.map((name) => `${name} is invalid`))
  const hex = color === undefined ? undefined : hexColor(color)
  const ofTitle = title === undefined ? [] : titleFaults(title.trim())
  const ofColor = color !== undefined && hex === undefined ? ['must be a valid color code'] : []
  if (ofTitle.length > 0 || ofColor.length > 0)
    throw invalid({
      ...(ofTitle.length > 0 && { title: ofTitle }),
      ...(ofColor.length > 0 && { color: ofColor }),
    })
  return hex
}
const refuses = [invalid({ title: ["can't be blank"] })]

/** A day that is set and not said to follow something else. */
const dayOf = (isFixed: boolean | undefined, day: string | null | undefined): string | null | undefined =>
  isFixed === false ? null : day

type Here = Context & { readonly actor: Actor; readonly group: Group }
const deedOf = ({ db, actor, group }: Here): EpicDeed => ({ db, actor, line: group.traversal_ids })
/** Notifies users mentioned in the description. */
const hear = ({ db, actor }: Here, epic: EpicRow, before = ''): Promise<void> =>
  hearDescription({ db, actor, about: ofEpic(epic), project: undefined }, epic.description, before)

/** Obeys the commands in a description, which is left with the rest. */
const obeyIn = (
  ctx: Here,
  epic: EpicRow,
  description: string | null | undefined,
  making?: { readonly plans: boolean },
): Promise<QuickActionResult> =>
  applyQuickActions(
    { ...ctx, ...(making && { making }) },
    ofEpic(epic),
    { project: undefined, line: ctx.group.traversal_ids, role: ctx.group.role },
    description ?? '',
  )

/** Importers may set the times of an epic's events. */
const datesDeeds = ({ actor, group }: { readonly actor: Actor; readonly group: Group }): boolean =>
  actor.admin || group.role >= ROLES.owner

export const createEpic = operation({
  method: 'POST',
  path: '/groups/:id/epics',
  summary: 'Create an epic',
  published: true,
  takes: LONG_TEXT,
  first: [premiumOrForbidden, signedIn],
  params: t.Object({
    title: t.String(),
    ...common,
    created_at: t.Optional(timestamp()),
  }),
  gates: [group, premiumPlanOrForbidden.group, groupPlanner],
  handle: async (ctx) => {
    const { db, actor, group, params } = ctx
    const color = check(params) ?? null
    const dates = datesDeeds(ctx)
    await dateDeed(db, dates ? params.created_at : undefined)
    const made = await insertEpic(db, {
      group_id: group.id,
      author_id: actor.id,
      title: params.title.trim(),
      description: params.description || null,
      confidential: params.confidential ?? false,
      parent_id: null,
      start_date: dayOf(params.start_date_is_fixed, params.start_date_fixed) ?? null,
      due_date: dayOf(params.due_date_is_fixed, params.due_date_fixed) ?? null,
      color,
      created_at: (dates ? params.created_at : undefined) ?? null,
    })
    await labelEpic(deedOf(ctx), made.id, params)
    const obeyed = await obeyIn(ctx, made, made.description, { plans: true })
    await hear(ctx, {
      ...made,
      description: obeyed.text,
      confidential: madeConfidential(obeyed) || made.confidential,
    })
    return presentEpic(await epics.showEpic(db, made.id), ctx)
  },
  returns: Epic,
  refuses,
})

export const updateEpic = operation({
  method: 'PUT',
  path: '/groups/:id/epics/:epic_iid',
  summary: 'Change, close or reopen an epic',
  published: true,
  takes: LONG_TEXT,
  first: [premiumOrForbidden, signedIn],
  params: t.Object(
    {
      title: t.Optional(t.String()),
      ...common,
      add_labels: titles,
      remove_labels: titles,
      state_event: t.Optional(oneOf(['reopen', 'close'])),
      updated_at: t.Optional(timestamp()),
    },
    {
      atLeastOne: [
        'title',
        'description',
        'confidential',
        'color',
        'start_date_fixed',
        'start_date_is_fixed',
        'due_date_fixed',
        'due_date_is_fixed',
        'labels',
        'add_labels',
        'remove_labels',
        'state_event',
      ],
    },
  ),
  gates: [group, premiumPlanOrForbidden.group, groupPlanner, epic],
  handle: async (ctx) => {
    const { db, epic, params } = ctx
    await dateDeed(db, datesDeeds(ctx) ? params.updated_at : undefined)
    const states = { close: 'closed', reopen: 'opened' } as const
    const color = check(params)
    const obeyed = await obeyIn(ctx, epic, params.description)
    const description = params.description === undefined ? undefined : obeyed.text || null
    const { labels, add_labels, remove_labels, confidential } = params
    const change: EpicChange = {
      title: params.title?.trim(),
      description,
      confidential,
      state: params.state_event && states[params.state_event],
      start_date: dayOf(params.start_date_is_fixed, params.start_date_fixed),
      due_date: dayOf(params.due_date_is_fixed, params.due_date_fixed),
      color,
      labels,
      add_labels,
      remove_labels,
    }
    await fitting(changeEpic(deedOf(ctx), epic.id, change))
    const after = confidential ?? (madeConfidential(obeyed) || epic.confidential)
    const said = description ?? null
    await hear(ctx, { ...epic, description: said, confidential: after }, epic.description ?? '')
    return presentEpic(await epics.showEpic(db, epic.id), ctx)
  },
  returns: Epic,
  refuses: [...refuses, mismatch(EPIC_IN_THE_OPEN)],
})

/** As published: whoever plans, and whoever owns the group. */
const mayDelete = allows({
  says: 'a Planner or Owner of the group',
  refuses: forbidden,
  holds: ({ actor, group }: Has<{ group: Group }>) =>
    actor?.admin === true || group.role === ROLES.planner || group.role >= ROLES.owner,
})

export const deleteEpic = operation({
  method: 'DELETE',
  path: '/groups/:id/epics/:epic_iid',
  summary: 'Delete an epic',
  published: true,
  first: [premiumOrForbidden, signedIn],
  gates: [group, premiumPlanOrForbidden.group, mayDelete, epic],
  handle: async ({ db, group, epic }) => {
    await epics.removeEpic(db, group.id, epic.id)
    return null
  },
  returns: nothing,
})
