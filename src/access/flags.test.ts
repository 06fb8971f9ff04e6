import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorld } from '../../test/support/world.ts'
import { setFeature } from '../core/settings/settings.ts'
import { flag } from './flags.ts'

test('a gate behind a feature flag opens and shuts with it, and while shut the route is as good as absent', async () => {
  const world = await openWorld()
  const { db, settings } = world.opened.instance
  const gate = flag('admin_token_revoke')
  const isOpen = async (enabled: boolean): Promise<boolean> => {
    await setFeature(db, 'admin_token_revoke', enabled)
    await settings.reload()
    return (
      (await gate.pass({ settings } as Parameters<typeof gate.pass>[0], undefined as never)) !== undefined
    )
  }
  assert.deepEqual([await isOpen(false), await isOpen(true)], [false, true])
  const { status, body } = gate.refuses()
  assert.deepEqual([status, body], [404, { error: '404 Not Found' }])
  await world.close()
})
