import { Type as t, type Static, type TObject } from 'typebox'
import { listOf, oneOf } from '../../http/params/schema.ts'
import { ORDERS } from './orders.ts'

/** A number, or whether there is one at all. */
const numberOrWord = t.String({
  pattern: '^([0-9]{1,9}|[Nn]one|[Aa]ny)$',
  description: 'A number, `None` or `Any`',
})
const idOrWord = t.String({
  pattern: '^([0-9]{1,15}|[Nn]one|[Aa]ny)$',
  description: 'An id, `None` or `Any`',
})
const emoji = t.String({ maxLength: 255, description: 'A name, `None` or `Any`' })
const title = t.String({ maxLength: 255 })
const titles = listOf(t.String({ maxLength: 255 }))
const iids = listOf(t.Integer())
const usernames = listOf(t.String({ maxLength: 255 }))
const timebox = oneOf(['None', 'Any', 'Upcoming', 'Started', 'none', 'any', 'upcoming', 'started'])
const HEALTHS = ['on_track', 'needs_attention', 'at_risk'] as const
const moment = t.Optional(t.Unsafe<string>({ type: 'string', format: 'date-time' }))

const notParams = t.Object({
  labels: t.Optional(titles),
  milestone: t.Optional(title),
  milestone_id: t.Optional(oneOf(['Upcoming', 'Started', 'upcoming', 'started'])),
  iids: t.Optional(iids),
  author_id: t.Optional(t.Integer()),
  author_username: t.Optional(title),
  assignee_id: t.Optional(t.Integer()),
  assignee_username: t.Optional(usernames),
  weight: t.Optional(t.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  epic_id: t.Optional(t.Integer()),
  iteration_id: t.Optional(t.Integer()),
  iteration_title: t.Optional(title),
  health_status: t.Optional(oneOf(HEALTHS, { description: 'Changes nothing: no issue has one' })),
  my_reaction_emoji: t.Optional(emoji),
})

const conditionParams = {
  labels: t.Optional(titles),
  milestone: t.Optional(title),
  milestone_id: t.Optional(timebox),
  iids: t.Optional(iids),
  search: t.Optional(t.String({ maxLength: 1000 })),
  in: t.Optional(t.String({ pattern: '^(title|description)(,(title|description))?$' })),
  author_id: t.Optional(t.Integer()),
  author_username: t.Optional(title),
  assignee_id: t.Optional(idOrWord),
  assignee_username: t.Optional(usernames),
  created_after: moment,
  created_before: moment,
  updated_after: moment,
  updated_before: moment,
  my_reaction_emoji: t.Optional(emoji),
  confidential: t.Optional(t.Boolean()),
  weight: t.Optional(numberOrWord),
  epic_id: t.Optional(idOrWord),
  iteration_id: t.Optional(idOrWord),
  iteration_title: t.Optional(title),
  health_status: t.Optional(
    oneOf([...HEALTHS, 'None', 'Any', 'none', 'any'], { description: 'No issue has one' }),
  ),
  issue_type: t.Optional(oneOf(['issue', 'incident', 'test_case', 'task'])),
  not: t.Optional(notParams),
}

const scope = oneOf(['created_by_me', 'assigned_to_me', 'created-by-me', 'assigned-to-me', 'all'])

/** Filters of counts. */
export const countParams = { ...conditionParams, scope: t.Optional(scope) }

/** Filters and order of lists. */
export const listParams = {
  ...countParams,
  state: t.Optional(oneOf(['opened', 'closed', 'all'])),
  due_date: t.Optional(
    oneOf([
      ...(['0', 'any', 'today', 'tomorrow', 'overdue', 'week', 'month'] as const),
      'next_month_and_previous_two_weeks',
    ]),
  ),
  order_by: oneOf(ORDERS, { default: 'created_at' }),
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  with_labels_details: t.Boolean({ default: false }),
}

type ListParams = Static<TObject<typeof listParams>>
/** As a handler finds them. */
export type FilterParams = Omit<ListParams, 'order_by' | 'sort' | 'with_labels_details'> & {
  readonly non_archived?: boolean
}
export type NotParams = Static<typeof notParams>
