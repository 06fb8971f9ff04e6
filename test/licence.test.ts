import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { administrator } from '../src/access/gates/gates.ts'
import { selfManaged } from '../src/access/tiers.ts'
import { operations } from '../src/areas/index.ts'
import { setSetting } from '../src/core/settings/settings.ts'
import { gatesOf, type NamedOperation } from '../src/http/operation.ts'
import { PLANS, includes } from '../src/core/settings/plans.ts'
import { callIn, callerOf, openScene, setScene } from './calls/scene.ts'
import { openWorld } from './support/world.ts'

// The table of operations says which tier, offering, role and flag each needs; gates enforce it.

interface Row {
  readonly key: string
  readonly tier: string
  readonly note: string
}

const keyOf = (method: string, path: string): string => `${method} ${path.replaceAll(/:\w+/g, ':')}`
const rows = readFileSync(new URL('./fixtures/operations.tsv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line): Row => {
    const [, method = '', path = '', , tier = '', note = ''] = line.split('\t')
    return { key: keyOf(method, path), tier, note }
  })
const served = new Map(operations.map((op) => [keyOf(op.method, op.path), op]))
const due = rows.flatMap((row) => {
  const op = served.get(row.key)
  return op === undefined ? [] : [{ ...row, op }]
})
const tiersOf = (op: NamedOperation): string[] => gatesOf(op).flatMap(({ tier }) => tier ?? [])

test('the gates of every served operation need the tier of the table, and no other', () => {
  assert.deepEqual(
    due.map(({ key, op }) => [key, ...tiersOf(op)]),
    due.map(({ key, tier }) => (tier === 'free' ? [key] : [key, tier])),
  )
})

test('self-managed instance, administrator and feature flag are gates where the table notes them', () => {
  for (const { key, note, op } of due) {
    const gates = gatesOf(op)
    const flags = gates.flatMap(({ flag }) => flag ?? [])
    assert.equal(gates.includes(selfManaged), note.includes('self-managed'), key)
    assert.equal(gates.includes(administrator), note.includes('administrator'), key)
    // A published flag may stand where the table notes none.
    if (note.includes('feature flag')) assert.ok(flags.length > 0, key)
    const [, flag] = /feature flag (\w+)/.exec(note) ?? []
    if (flag !== undefined) assert.deepEqual(flags, [flag], key)
  }
})

test('tier and offering hold from the configuration until they are set, then from the next request', async () => {
  const world = await openWorld({ env: { GUILDHALL_TIER: 'free', GUILDHALL_OFFERING: 'hosted' } })
  const { db } = world.opened.instance
  const admin = await world.make.admin()
  const aliases = async (): Promise<number> => (await world.get('/project_aliases', admin)).status
  assert.equal(await aliases(), 404)
  await setSetting(db, 'offering', 'self-managed')
  assert.equal(await aliases(), 403)
  await setSetting(db, 'tier', 'premium')
  assert.equal(await aliases(), 200)
  await setSetting(db, 'tier', 'free')
  assert.equal(await aliases(), 403)
  await world.close()
})

test('operations of a project or group that need a tier need a plan too, right behind its record', () => {
  for (const op of operations) {
    const gates = gatesOf(op)
    const at = gates.findIndex(({ preload: along }) => along === 'project' || along === 'group')
    const [tier] = tiersOf(op)
    const plans = gates.flatMap(({ plan }) => plan ?? [])
    assert.deepEqual(plans, tier === undefined || at === -1 ? [] : [tier], op.name)
    const refusal = gates.find((gate) => gate.tier !== undefined)?.refuses()
    const planned = gates.findIndex(({ plan }) => plan !== undefined)
    if (planned === -1) continue
    assert.deepEqual(gates[planned]?.refuses().body, refusal?.body, op.name)
    assert.ok(
      gates.slice(at + 1, planned).every(({ kind }) => kind === 'enables'),
      op.name,
    )
  }
})

test('on the hosted offering the plan of the top-level namespace decides, up to the licence', async () => {
  const world = await openWorld({ env: { GUILDHALL_OFFERING: 'hosted' } })
  const { db, settings } = world.opened.instance
  const scene = await openScene(world, 'private')
  const as = callerOf(scene, 'admin')
  const has = async (plan: string): Promise<void> =>
    world.make.sql(`update namespaces set plan = '${plan}' where id = ${scene.group.id}`)
  for (const op of operations) {
    const gate = gatesOf(op).find(({ plan }) => plan !== undefined)
    if (gate === undefined || op.method !== 'GET') continue
    const needs = gate.plan === 'premium' ? 'premium' : 'ultimate'
    const { status, body } = gate.refuses()
    const path = await setScene(world, scene, op)
    for (const [plan, tier] of Object.entries(PLANS)) {
      await has(plan)
      const answer = await callIn(world, scene, op, { as, path })
      if (includes(tier, needs)) assert.equal(answer.status, 200, `${op.name} ${plan} ${answer.text}`)
      else assert.deepEqual([answer.status, answer.body], [status, body], `${op.name} ${plan}`)
    }
    await setSetting(db, 'tier', 'free')
    await settings.reload()
    const answer = await callIn(world, scene, op, { as, path })
    assert.deepEqual([answer.status, answer.body], [status, body], op.name)
    await world.make.sql(`delete from settings where name = 'tier'`)
    await settings.reload()
  }
  await world.close()
})
