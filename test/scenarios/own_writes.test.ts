import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { createApp } from '../../src/app.ts'
import { openInstance } from '../../src/open.ts'
import { sharedWorld } from '../support/stand.ts'

const at = sharedWorld()
const PAIRS = 200
const HANDS = 10

test('writes on one server are read at once on another, 200 times', async () => {
  const { make, config } = at()
  const owner = await make.user()
  const log = pino({ level: 'silent' })
  const second = await openInstance(config, { log, join: true })
  const { app } = createApp(second, { log })
  try {
    const headers = { 'private-token': owner.token }
    const project = await at().call('POST', '/projects', { as: owner, body: { name: 'ledger' } })
    const { id } = project.body as { id: number }
    const seen = await app.inject({ url: `/api/v4/projects/${id}`, headers })
    assert.equal(seen.statusCode, 200)
    let [next, stale] = [0, 0]
    const pair = async (n: number): Promise<void> => {
      const body = { name: `label ${n}`, color: 'red' }
      const made = await at().call('POST', `/projects/${id}/labels`, { as: owner, body })
      assert.equal(made.status, 201)
      const label = (made.body as { id: number }).id
      const read = await app.inject({ url: `/api/v4/projects/${id}/labels/${label}`, headers })
      if (read.statusCode !== 200 || read.json<{ name: string }>().name !== body.name) stale += 1
    }
    const hand = async (): Promise<void> => {
      while (next < PAIRS) await pair((next += 1))
    }
    await Promise.all(Array.from({ length: HANDS }, hand))
    assert.equal(stale, 0)
    const { headers: listed } = await app.inject({ url: `/api/v4/projects/${id}/labels`, headers })
    assert.equal(listed['x-total'], String(PAIRS))
    await at().call('DELETE', `/projects/${id}`, { as: owner })
    assert.equal((await app.inject({ url: `/api/v4/projects/${id}`, headers })).statusCode, 404)
  } finally {
    await app.close()
    await second.close()
  }
})
