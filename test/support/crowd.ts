import assert from 'node:assert/strict'
import type { Someone } from './makers.ts'
import { watch } from './plans.ts'
import type { World } from './world.ts'

/** What the database does for a page: how many blocks of 8 KiB it touches, and the rows of the step that yields most. */
export async function readingOf(
  world: World,
  path: string,
  as: Someone,
): Promise<{ blocks: number; rows: number }> {
  // Another list sees that something was committed: nothing stands of what was read before.
  await world.make.sql('select pg_current_xact_id()')
  await world.get('/projects', as)
  const plans = await watch(world.opened.client.pool, async () => {
    const { status, text } = await world.get(path, as)
    assert.equal(status, 200, text)
  })
  const rows = plans.flatMap(({ text }) => [...text.matchAll(/rows=([0-9.]+) loops=(\d+)/g)])
  return {
    blocks: plans.reduce((sum, { blocks }) => sum + blocks, 0),
    rows: Math.max(...rows.map(([, each, loops]) => Number(each) * Number(loops))),
  }
}
