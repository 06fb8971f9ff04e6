import { Type as t, type TSchema, type Static } from 'typebox'
import { NOTE_BASES, noteable, onEach } from '../../access/noteable_routes.ts'
import type { Here } from '../../access/conversation_records.ts'
import { signedIn } from '../../access/gates/gates.ts'
import type { NoteableKind } from '../../core/conversation/noteable.ts'
import { loads, type Has } from '../../http/gate.ts'
import { operation, pageOf, type AnyOperation } from '../../http/operation.ts'
import * as entity from './entity.ts'
import * as events from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

/** One table of events as the interface has it: its address, the records it is about, and how its rows are shown. */
interface Kind<Row, Schema extends TSchema> {
  readonly path: string
  readonly noun: string
  readonly words: string
  readonly of: readonly NoteableKind[]
  readonly rows: events.Family<Row>
  readonly schema: Schema
  readonly present: (row: Row, around: entity.Around) => Static<Schema>
}

function operationsOf<Row, Schema extends TSchema>(
  kind: Kind<Row, Schema>,
): Readonly<Record<string, AnyOperation>> {
  const event = loads({
    param: 'event_id',
    type: t.Integer(),
    as: 'event',
    says: 'an event of the record',
    find: ({ db, noteable }: Has<Here>, id) => events.findEvent(db, kind.rows, noteable.id, id),
  })
  const list = operation({
    method: 'GET',
    path: `/${kind.path}` as '/events',
    summary: `List what became of the ${kind.words} of #`,
    published: true,
    first: [signedIn],
    gates: [noteable],
    handle: async ({ db, noteable, page, config }) => {
      const at = { ...page }
      const found = await events.listEvents(db, kind.rows, noteable.id, at)
      return presentPage(found, (row) => kind.present(row, { noteable, config }))
    },
    returns: pageOf<TSchema>(kind.schema),
  })
  const get = operation({
    method: 'GET',
    path: `/${kind.path}/:event_id` as '/events/:event_id',
    summary: `Get one change of the ${kind.words} of #`,
    published: true,
    first: [signedIn],
    gates: [noteable, event],
    handle: async ({ noteable, event, config }) => kind.present(event, { noteable, config }) as never,
    returns: kind.schema,
  })
  return onEach(
    NOTE_BASES.filter((base) => kind.of.includes(base.kind)),
    { [`list#${kind.noun}Events`]: list, [`get#${kind.noun}Event`]: get },
  )
}

/** The operations of events, on each base. */
export const resourceEventOperations: Readonly<Record<string, AnyOperation>> = {
  ...operationsOf({
    path: 'resource_label_events',
    noun: 'Label',
    words: 'labels',
    of: ['issue', 'merge_request', 'epic'],
    rows: events.LABEL,
    schema: entity.LabelEvent,
    present: entity.presentLabelEvent,
  }),
  ...operationsOf({
    path: 'resource_state_events',
    noun: 'State',
    words: 'state',
    of: ['issue', 'merge_request', 'epic'],
    rows: events.STATE,
    schema: entity.StateEvent,
    present: entity.presentStateEvent,
  }),
  ...operationsOf({
    path: 'resource_milestone_events',
    noun: 'Milestone',
    words: 'milestone',
    of: ['issue', 'merge_request'],
    rows: events.MILESTONE,
    schema: entity.MilestoneEvent,
    present: entity.presentMilestoneEvent,
  }),
  ...operationsOf({
    path: 'resource_weight_events',
    noun: 'Weight',
    words: 'weight',
    of: ['issue'],
    rows: events.WEIGHT,
    schema: entity.WeightEvent,
    present: entity.presentWeightEvent,
  }),
  ...operationsOf({
    path: 'resource_iteration_events',
    noun: 'Iteration',
    words: 'iteration',
    of: ['issue'],
    rows: events.ITERATION,
    schema: entity.IterationEvent,
    present: entity.presentIterationEvent,
  }),
}
