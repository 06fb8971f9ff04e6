import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { administrator, signedIn } from '../src/access/gates/gates.ts'
import { includes } from '../src/core/settings/plans.ts'
import { operations } from '../src/areas/index.ts'
import { TIERS, type Tier } from '../src/config.ts'
import { ROLES, type RoleName } from '../src/core/sight/roles.ts'
import { setFeature, setSetting, type FeatureName } from '../src/core/settings/settings.ts'
import type { Db } from '../src/db/db.ts'
import type { AnyGate } from '../src/http/gate.ts'
import { gatesOf, type NamedOperation } from '../src/http/operation.ts'
import { requiredOf } from '../src/http/params/params.ts'
import { hasNoBody } from '../src/http/problems.ts'
import { callIn, callerOf, openScene, setScene } from './calls/scene.ts'
import type { Someone } from './support/makers.ts'
import { contents, visible } from './support/stand.ts'
import { openWorld, type Answered } from './support/world.ts'

// Derived from the operations: every gate that an operation declares refuses whom it should. That the right gates
// are declared, in the right order, each area's own cases show.

const world = await openWorld()
after(() => world.close())

/** One scene that is called, and one whose owner may use both. */
const [scene, other] = [await openScene(world, 'private'), await openScene(world, 'private')]
const [admin, owner, stranger] = [
  callerOf(scene, 'admin'),
  callerOf(scene, 'owner'),
  await world.make.user({ username: 'stranger' }),
]
await world.make.member(owner, 'owner', { group: other.group })

const has = (op: NamedOperation, gate: AnyGate): boolean => gatesOf(op).includes(gate)

interface Turn {
  readonly as?: Someone
  /** Parts of the path that are to be otherwise. */
  readonly path?: Readonly<Record<string, string>>
  readonly without?: string
}

/** Ways to shut a gate that the licence or a feature flag opens: every tier below, another offering, the flag off. */
function switchesOf({ tier, flag }: AnyGate): ((db: Db) => Promise<void>)[] {
  if (flag !== undefined) return [(db) => setFeature(db, flag as FeatureName, false)]
  if (tier === undefined) return [(db) => setSetting(db, 'offering', 'hosted')]
  return TIERS.filter((one) => !includes(one, tier as Tier)).map((one) => (db) => setSetting(db, 'tier', one))
}

interface Ground {
  /** Path parameters, in the scene that is called and in the other. */
  readonly here: Readonly<Record<string, string>>
  readonly elsewhere: Readonly<Record<string, string>>
  readonly records: string
}
const grounds = new Map<string, Promise<Ground>>()

/** Refused requests change nothing, so the scenes are set once for all of an operation's tests. */
function groundOf(op: NamedOperation): Promise<Ground> {
  const known = grounds.get(op.name) ?? lay(op)
  grounds.set(op.name, known)
  return known
}
async function lay(op: NamedOperation): Promise<Ground> {
  const elsewhere = await setScene(world, other, op)
  return { elsewhere, here: await setScene(world, scene, op), records: await records() }
}

/** Everything there is, but for the tokens that these tests make, and the count of the settings' changes. */
const records = async (): Promise<string> =>
  (await contents(world)).replaceAll(/^(personal_access_tokens|settings_clock)\n.*?\n\n/gms, '')

/** Runs `work` while a setting or a feature flag has another value than its default. */
async function whileSwitched<T>(turn: (db: Db) => Promise<void>, work: () => Promise<T>): Promise<T> {
  const { db, settings } = world.opened.instance
  await turn(db)
  await settings.reload()
  try {
    return await work()
  } finally {
    await world.make.sql(`delete from settings where name in ('tier', 'offering'); delete from features`)
    await settings.reload()
  }
}

async function ask(op: NamedOperation, { as, path, without }: Turn = {}): Promise<Answered> {
  return callIn(world, scene, op, {
    as,
    path: { ...(await groundOf(op)).here, ...path },
    ...(without !== undefined && { without }),
  })
}

/** A few refusals name what was asked for. */
const refusal = (gate: AnyGate, asked?: string): { status: number; body: unknown } => {
  const refuse: (asked?: string) => ReturnType<AnyGate['refuses']> = gate.refuses
  const problem = refuse(asked)
  return { status: problem.status, body: hasNoBody(problem) ? undefined : problem.body }
}
const refused = ({ status, body }: Answered): { status: number; body: unknown } => ({ status, body })

function refusesTokens(
  op: NamedOperation,
  refuses: (title: string, work: () => Promise<void>) => void,
): void {
  refuses('a token that is unknown', async () => {
    const answer = await ask(op, { as: { ...stranger, token: 'glpat-unknown' } })
    assert.deepEqual(refused(answer), { status: 401, body: { message: '401 Unauthorized' } })
  })

  refuses('a token whose scopes are too small', async () => {
    const small = [
      'ai_features',
      'k8s_proxy',
      ...(op.method === 'GET' ? [] : (['read_api'] as const)),
    ] as const
    const scopes = small.filter((scope) => !op.scopes?.includes(scope))
    const token = await world.make.token(admin, { scopes })
    const answer = await ask(op, { as: { ...admin, token } })
    assert.equal(answer.status, 403)
    assert.deepEqual(answer.body, {
      error: 'insufficient_scope',
      error_description: 'The request requires higher privileges than provided by the access token.',
      scope: [...new Set(['api', 'read_api', ...(op.scopes ?? [])])].join(' '),
    })
  })
}

/** Operations that take a record of any parent, by an id that is unique in the instance. */
const ANY_PARENT = new Set(['addEpicIssue'])

for (const op of operations) {
  const refuses = (title: string, work: () => Promise<void>): void =>
    void test(`${op.name} refuses ${title}`, work)

  if (op.first?.includes(signedIn))
    refuses('callers without a token, before anything else', async () => {
      assert.deepEqual(refused(await ask(op)), { status: 401, body: { message: '401 Unauthorized' } })
      assert.deepEqual(visible(await ask(op, { path: { id: '999999' } })), visible(await ask(op)))
    })

  if (op.inbound === undefined && !op.ownToken) refusesTokens(op, refuses)
  // Programs send keys of their own: nobody signs in.
  if (op.inbound !== undefined)
    refuses('a sender without a key as it refuses a wrong one', async () => {
      const asked = await groundOf(op)
      const path = op.path.replaceAll(/:(\w+)/g, (_all, name: string) => asked.here[name] ?? '')
      const [none, wrong, other] = await Promise.all(
        [{}, { authorization: 'Bearer wrong' }, { 'private-token': admin.token }].map((headers) =>
          world.call(op.method, path, { headers: { ...headers }, body: {} }),
        ),
      )
      assert.ok((none?.status ?? 0) >= 400)
      assert.deepEqual(none && visible(none), wrong && visible(wrong))
      assert.deepEqual(none && visible(none), other && visible(other))
    })

  if (has(op, administrator))
    refuses('whoever is no administrator, before the parameters are read', async () => {
      const [without] = requiredOf(op.params)
      const answer = await ask(op, { as: owner, ...(without && { without }) })
      assert.deepEqual(refused(answer), { status: 403, body: { message: '403 Forbidden' } })
    })

  const loader = gatesOf(op).find((gate) => gate.preload !== undefined)
  if (loader)
    refuses('a hidden parent as it refuses an absent one', async () => {
      const hidden = await ask(op, { as: stranger })
      const [shut = loader] = gatesOf(op).filter((gate) => gate === administrator || gate === loader)
      assert.deepEqual(refused(hidden), refusal(shut))
      assert.deepEqual(visible(hidden), visible(await ask(op, { as: stranger, path: { id: '999999' } })))
      // Where the path takes a number, a full path is a parameter fault.
      if (gatesOf(op).some((gate) => gate.param === 'id' && gate !== loader)) return
      assert.deepEqual(
        visible(hidden),
        visible(await ask(op, { as: stranger, path: { id: 'no/such-path' } })),
      )
    })

  const role = gatesOf(op).find((gate) => gate.level !== undefined)
  if (role)
    for (const [name, level] of Object.entries(ROLES))
      if (level >= ROLES.guest && level < (role.level ?? 0))
        refuses(`a ${name}`, async () => {
          const member = callerOf(scene, name as RoleName)
          assert.deepEqual(refused(await ask(op, { as: member })), refusal(role))
        })

  for (const gate of gatesOf(op)) {
    const { param } = gate
    if (gate.kind === 'enables')
      refuses(`without ${gate.says}`, async () => {
        await groundOf(op)
        for (const turn of switchesOf(gate)) {
          const answer = await whileSwitched(turn, () => ask(op, { as: admin }))
          assert.deepEqual(refused(answer), refusal(gate))
        }
      })
    if (gate.kind === 'loads' && param !== undefined && gate !== loader)
      refuses(`a :${param} that is not there`, async () => {
        const isNumber = (gate.type as { type?: string }).type === 'integer'
        const none = isNumber ? '987654321' : '0'.repeat(39) + '1'
        const answer = await ask(op, { as: admin, path: { [param]: none } })
        assert.deepEqual(refused(answer), refusal(gate, none))
      })
    if (gate.kind === 'loads' && param !== undefined && gate !== loader && loader && !ANY_PARENT.has(op.name))
      refuses(`a :${param} of another parent, to one who may use both`, async () => {
        const { here, elsewhere } = await groundOf(op)
        const value = elsewhere[param] ?? ''
        // Records that are counted or named inside their parent have no address elsewhere.
        if (value === here[param]) return
        assert.deepEqual(
          refused(await ask(op, { as: owner, path: { [param]: value } })),
          refusal(gate, value),
        )
      })
  }

  for (const name of requiredOf(op.params))
    if (!op.path.includes(`:${name}`))
      refuses(`when ${name} is missing`, async () => {
        const answer = await ask(op, { as: admin, without: name })
        assert.deepEqual(refused(answer), { status: 400, body: { error: `${name} is missing` } })
      })

  // The last of its tests: all that came before were refused.
  if (op.method !== 'GET')
    refuses('without changing anything', async () =>
      assert.equal(await records(), (await groundOf(op)).records),
    )
}
