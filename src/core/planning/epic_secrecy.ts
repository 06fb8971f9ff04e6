import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Epic, Issue } from '../../db/schema/planning.ts'
import { statement, type Slots } from '../../db/statement.ts'

// A confidential epic holds confidential issues alone: whoever saw another one would be told of the epic by it.

/** An epic and an issue cannot be together; the message says so in the published words. */
export class EpicMismatch extends Error {}

export const ISSUE_IN_THE_OPEN =
  'Cannot assign a confidential epic to a non-confidential issue. Make the issue confidential and try again'
export const EPIC_IN_THE_OPEN = 'Cannot make the epic confidential if it contains non-confidential issues'

const secrecy = statement(
  (p: Slots<{ id: number }>) =>
    sql<Pick<Epic, 'confidential'>>`select confidential from epics where id = ${p.id} for share`,
)
/** Whether the epic is confidential, which stays so until the transaction ends. */
export const isHiddenEpic = async (db: Db, id: number): Promise<boolean> =>
  (await db.one(secrecy, { id }))?.confidential === true

type Placed = Pick<Issue, 'epic_id' | 'confidential'>
/** Throws EpicMismatch where an issue that all see comes into a confidential epic, or is to be seen by all in one. */
export async function checkEpicOf(db: Db, before: Placed, after: Placed): Promise<void> {
  const { epic_id, confidential } = after
  if (epic_id === null || confidential) return
  const isAsItWas = epic_id === before.epic_id && !before.confidential
  if (!isAsItWas && (await isHiddenEpic(db, epic_id))) throw new EpicMismatch(ISSUE_IN_THE_OPEN)
}

const open = statement(
  (p: Slots<{ id: number }>) => sql<{ found: boolean }>`
    select exists (select from issues where epic_id = ${p.id} and not confidential) as found`,
)
/** Whether the epic, which the caller holds, has issues that are not confidential. */
export const holdsOpenIssues = async (db: Db, id: number): Promise<boolean> =>
  (await db.one(open, { id }))?.found === true
