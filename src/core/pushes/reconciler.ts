import type { Instance } from '../../instance.ts'
import { enqueue } from '../../jobs/job.ts'
import { tellOfPush } from './news.ts'
import type { RefUpdateMark } from './pending_ref_updates.ts'
import { reconcile } from './pushes.ts'
import { findMissingReadmes } from '../repositories/readmes.ts'
import { measureRepository } from '../repositories/repositories.ts'

type Tools = Pick<Instance, 'db' | 'git' | 'settings' | 'pendingRefUpdates'>

/** Milliseconds between two rounds. */
const ROUND = 60_000
/** Milliseconds between two tries to tell of pushes that this process has kept. */
const TELLING = 1_000
/** Milliseconds after which a mark that another process left is that of a dead one. */
const ABANDONED = 5 * 60_000

/**
 * Tells the rows of every marked project what its refs are, and notes its size soon. `mine` are marks of this process
 * that are done with; others are removed when they are old. Resolves to the marks that failed, with why.
 */
export async function reconcileMarked(
  tools: Tools,
  marks: readonly RefUpdateMark[],
  mine: boolean,
): Promise<{ readonly mark: RefUpdateMark; readonly error: unknown }[]> {
  const failed: { mark: RefUpdateMark; error: unknown }[] = []
  for (const mark of marks)
    try {
      const told = await reconcile(tools, { id: mark.projectId }, mark)
      const payload = { project_id: mark.projectId }
      await enqueue(tools.db, measureRepository, payload, `measure_repository ${mark.projectId}`)
      const done = mine || (told && mark.first) || Date.now() - mark.since.getTime() > ABANDONED
      if (done) await tools.pendingRefUpdates.remove(mark)
    } catch (error) {
      failed.push({ mark, error })
    }
  return failed
}

export interface Reconciler {
  /** Does a last round and stops. */
  stop(): Promise<void>
}

type Say = (detail: object, text: string) => void

/** Goes through what a crash may have left, then does a round every minute until stopped. Never throws. */
export async function startReconciler(tools: Tools, say: Say): Promise<Reconciler> {
  const run = async (
    marks: () => Promise<readonly RefUpdateMark[]> | readonly RefUpdateMark[],
    mine: boolean,
  ): Promise<void> => {
    try {
      for (const { mark, error } of await reconcileMarked(tools, await marks(), mine))
        say({ project_id: mark.projectId, err: error }, 'rows could not be brought in line with refs')
    } catch (error) {
      say({ err: error }, 'the marks of moving refs could not be read')
    }
  }
  const tell = (): Promise<void> =>
    tools.pendingRefUpdates.undelivered
      .tellAll((push) => tellOfPush(tools, push))
      .catch((error: unknown) => say({ err: error }, 'kept pushes could not be told of'))
  await run(() => tools.pendingRefUpdates.others(), false)
  await tell()
  let current: Promise<void> = findMissingReadmes(tools).catch((error: unknown) =>
    say({ err: error }, 'readmes could not be looked for'),
  )
  const round = async (): Promise<void> => {
    await run(() => tools.pendingRefUpdates.take(), true)
    await run(() => tools.pendingRefUpdates.others(), false)
  }
  const clock = setInterval(() => {
    current = current.then(round)
  }, ROUND)
  clock.unref()
  const telling = setInterval(() => {
    if (tools.pendingRefUpdates.undelivered.waiting()) current = current.then(tell)
  }, TELLING)
  telling.unref()
  return {
    stop: async () => {
      clearInterval(clock)
      clearInterval(telling)
      await current
      await run(() => tools.pendingRefUpdates.take(), true)
    },
  }
}
