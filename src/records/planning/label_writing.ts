import { Type as t } from 'typebox'
import {
  insertLabel,
  isTitleTwice,
  removeLabel,
  updateLabel,
  type LabelHome,
} from '../../core/planning/labels.ts'
import type { Db } from '../../db/db.ts'
import type { Label } from '../../db/schema/tables.ts'
import { nullable } from '../../http/params/schema.ts'
import { checkLabel, labelExists, labelLocked, titleTaken } from './label.ts'

// How labels are made, changed and deleted, those of groups and those of projects alike.

/** It is shown as HTML in every list, so its length is a cost to all who read. */
const description = t.Optional(nullable(t.String({ maxLength: 10_000 })))

export const newLabel = { name: t.String(), color: t.String(), description }
interface Given {
  readonly name: string
  readonly color: string
  readonly description?: string | null
}
/** Makes a label. `find` looks for one of that title wherever there may be no second one. */
export async function makeLabel(
  db: Db,
  home: LabelHome,
  given: Given,
  find: (title: string) => Promise<Label | undefined>,
): Promise<Label> {
  const { title, color } = checkLabel({ title: given.name, color: given.color })
  if (await find(title)) throw labelExists()
  const label = { ...home, title, color, description: given.description || null }
  return insertLabel(db, label).catch((error: unknown) => {
    throw isTitleTwice(error) ? labelExists() : error
  })
}

export const labelChanges = { new_name: t.Optional(t.String()), color: t.Optional(t.String()), description }
interface Changes {
  readonly new_name?: string
  readonly color?: string
  readonly description?: string | null
}
export async function changeLabel(db: Db, label: Label, to: Changes): Promise<Label> {
  const { title, color } = checkLabel({ title: to.new_name ?? label.title, color: to.color ?? label.color })
  return updateLabel(db, label, {
    title: to.new_name === undefined ? null : title,
    color: to.color === undefined ? null : color,
    description: to.description === undefined ? null : (to.description ?? ''),
  }).catch((error: unknown) => {
    throw isTitleTwice(error) ? titleTaken() : error
  })
}

export async function discardLabel(db: Db, label: Label): Promise<void> {
  if (label.lock_on_merge) throw labelLocked()
  await removeLabel(db, label)
}
