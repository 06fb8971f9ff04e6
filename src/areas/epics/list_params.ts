import { Type as t, type Static, type TObject } from 'typebox'
import { containing } from '../../db/text.ts'
import { badParams } from '../../http/problems.ts'
import { listOf, oneOf, timestamp } from '../../http/params/schema.ts'
import type { Filters } from './filters.ts'
import { ORDERS } from './store.ts'

const name = t.Optional(t.String({ maxLength: 255 }))
/** Filters, and their negations below `not`. */
const ways = {
  author_id: t.Optional(t.Integer()),
  author_username: name,
  labels: t.Optional(listOf(t.String({ maxLength: 255 }))),
  my_reaction_emoji: name,
}

export const listParams = {
  ...ways,
  with_labels_details: t.Boolean({ default: false }),
  order_by: oneOf(ORDERS, { default: 'created_at' }),
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  search: t.Optional(t.String({ maxLength: 1000, description: 'Part of the title or description' })),
  state: oneOf(['opened', 'closed', 'all'], { default: 'all' }),
  iids: t.Optional(listOf(t.Integer())),
  confidential: t.Optional(t.Boolean()),
  created_after: t.Optional(timestamp()),
  created_before: t.Optional(timestamp()),
  updated_after: t.Optional(timestamp()),
  updated_before: t.Optional(timestamp()),
  include_ancestor_groups: t.Boolean({ default: false }),
  include_descendant_groups: t.Boolean({ default: true }),
  not: t.Optional(t.Object(ways)),
}
type Given = Static<TObject<typeof listParams>>

/** Absent filters add no condition. */
const said = <T extends string | readonly string[]>(given: T | undefined): T | undefined =>
  given === undefined || given.length === 0 ? undefined : given

/** `None` and `Any` ask whether there is one at all. */
function wordOr<T extends string | readonly string[]>(
  given: T | undefined,
): { readonly value?: T | undefined; readonly any?: boolean } {
  const word = (typeof given === 'string' ? given : given?.length === 1 ? given[0] : '')?.toLowerCase()
  return word === 'none' || word === 'any' ? { any: word === 'any' } : { value: said(given) }
}

function checkTogether(given: Given | NonNullable<Given['not']>, nameOf: (one: string) => string): void {
  if (given.author_id === undefined || given.author_username === undefined) return
  throw badParams([`${nameOf('author_id')}, ${nameOf('author_username')} are mutually exclusive`])
}

/** The filters of an epic list. Throws the published Problem for conflicting ones. */
export function filtersOf(given: Given): Filters {
  const { not = {} } = given
  checkTogether(given, (one) => one)
  checkTogether(not, (one) => `not[${one}]`)
  const [labels, emoji] = [wordOr(given.labels), wordOr(given.my_reaction_emoji)]
  const [notLabels, notEmoji] = [wordOr(not.labels), wordOr(not.my_reaction_emoji)]
  return {
    state: given.state === 'all' ? undefined : given.state,
    author: given.author_id,
    author_name: said(given.author_username),
    labels: labels.value,
    labelled: labels.any,
    emoji: emoji.value,
    reacted: emoji.any,
    search: given.search ? containing(given.search) : undefined,
    iids: given.iids,
    confidential: given.confidential,
    created_after: given.created_after,
    created_before: given.created_before,
    updated_after: given.updated_after,
    updated_before: given.updated_before,
    not_author: not.author_id,
    not_author_name: said(not.author_username),
    not_labels: notLabels.value,
    not_labelled: notLabels.any,
    not_emoji: notEmoji.value,
    not_reacted: notEmoji.any,
  }
}
