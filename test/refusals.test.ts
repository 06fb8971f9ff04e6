import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { administrator, group, project, signedIn } from '../src/access/gates.ts'
import { operations } from '../src/areas/index.ts'
import { ROLES, type RoleName } from '../src/core/roles.ts'
import type { AnyGate } from '../src/http/gate.ts'
import { gatesOf, type NamedOperation } from '../src/http/operation.ts'
import { scratch, writeHistory } from './support/git_fixtures.ts'
import type { Someone } from './support/makers.ts'
import { openWorld, type Answered, type World } from './support/world.ts'

// Derived from the operations: every gate that an operation declares refuses whom it should. That the right gates
// are declared, in the right order, each area's own cases show.

interface Parents {
  /** One that members can use, one that only its owner knows, and the records inside the first. */
  readonly id: string
  readonly hidden: string
  readonly inside: Readonly<Record<string, string>>
  /** The same records in another parent that the same people may use. */
  readonly elsewhere: Readonly<Record<string, string>>
}

const world = await openWorld()
const free = await openWorld({ env: { GUILDHALL_TIER: 'free' } })
const hosted = await openWorld({ env: { GUILDHALL_OFFERING: 'hosted' } })
after(() => Promise.all([world, free, hosted].map((one) => one.close())))
const [admin, owner, stranger] = [await world.make.admin(), await world.make.user(), await world.make.user()]
const parents = await makeParents(world.make)
const untouched = await rows()

async function makeParents(
  make: World['make'],
): Promise<Record<'project' | 'group' | 'namespace' | 'none', Parents>> {
  const [mine, other, hidden] = [await make.group(), await make.group(), await make.group()]
  for (const one of [mine, other]) await make.member(owner, 'owner', { group: one })
  const history = join(scratch(), 'history.git')
  writeHistory(history, 80, 1)
  const repository = await make.project({ group: mine, repository: history })
  const elsewhere = await make.project({ group: other, repository: 'empty' })
  await make.member(owner, 'owner', { project: elsewhere })
  const hiddenProject = await make.project({ group: hidden, repository: 'empty' })
  await world.call('POST', '/project_aliases', {
    as: admin,
    body: { project_id: repository.id, name: 'an-alias' },
  })
  const label = await makeLabel(mine.id)
  const group = {
    id: String(mine.id),
    hidden: String(hidden.id),
    inside: { label_id: label },
    elsewhere: { label_id: await makeLabel(other.id) },
  }
  const inProject = { sha: 'main', name: 'main' }
  return {
    group,
    namespace: { ...group, inside: {}, elsewhere: {} },
    project: {
      id: String(repository.id),
      hidden: String(hiddenProject.id),
      inside: inProject,
      elsewhere: {},
    },
    none: { id: '', hidden: '', inside: { name: 'an-alias', namespace: 'free-path' }, elsewhere: {} },
  }
}

async function makeLabel(groupId: number): Promise<string> {
  const body = { name: 'a label', color: '#112233' }
  const answer = await world.call('POST', `/groups/${groupId}/labels`, { as: owner, body })
  return String((answer.body as { id: number }).id)
}

/** Values that satisfy every required parameter of the operations there are. */
const GOOD: Readonly<Record<string, string>> = {
  name: 'a label',
  color: '#112233',
  new_name: 'another',
  plan_name: 'default',
  project_id: '1',
  state: 'success',
  ref: 'main',
  actions: '[{"action":"create","file_path":"a","content":""}]',
}

const parentOf = (op: NamedOperation): keyof typeof parents =>
  gatesOf(op).find((gate) => gate.along)?.along ?? 'none'
const has = (op: NamedOperation, gate: AnyGate): boolean => gatesOf(op).includes(gate)
const parent = (op: NamedOperation): Parents => parents[parentOf(op)]

interface Turn {
  readonly as?: Someone
  readonly in?: World
  readonly id?: string
  readonly records?: Readonly<Record<string, string>>
  readonly without?: string
}

function ask(op: NamedOperation, turn: Turn = {}): Promise<Answered> {
  const records = { id: turn.id ?? parent(op).id, ...parent(op).inside, ...turn.records } as Record<
    string,
    string
  >
  const path = op.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(records[name] ?? '1'))
  const names = [
    ...(op.params?.required ?? []),
    ...(op.params && 'atLeastOne' in op.params ? ['new_name'] : []),
  ]
  const wanted = names.filter((name) => name !== turn.without && !op.path.includes(`:${name}`))
  const exactly = op.params && 'exactlyOne' in op.params ? ['name'] : []
  const body = Object.fromEntries([...wanted, ...exactly].map((name) => [name, GOOD[name] ?? 'x']))
  const as = turn.as
  const sent = op.method === 'GET' ? { query: body } : { body }
  return (turn.in ?? world).call(op.method, path, { as, ...sent })
}

const refusal = (gate: AnyGate): { status: number; body: unknown } => {
  const { status, body } = gate.refuses()
  return { status, body }
}
const refused = ({ status, body }: Answered): { status: number; body: unknown } => ({ status, body })

/** Everything but what names the one answer. */
function seen({ status, text, headers }: Answered): unknown {
  const { 'x-request-id': _id, date: _date, ...rest } = headers
  return { status, text, rest }
}

async function rows(): Promise<unknown> {
  const counts = await world.opened.client.pool.query(`
    select (select count(*) from labels) as labels, (select count(*) from project_aliases) as aliases,
           (select count(*) from label_subscriptions) as subscriptions, (select limits from plan_limits) as limits`)
  return counts.rows[0]
}

for (const op of operations) {
  const refuses = (title: string, work: () => Promise<void>): void =>
    void test(`${op.name} refuses ${title}`, work)

  if (op.first?.includes(signedIn))
    refuses('callers without a token, before anything else', async () => {
      assert.deepEqual(refused(await ask(op)), { status: 401, body: { message: '401 Unauthorized' } })
      assert.deepEqual(seen(await ask(op, { id: '999999' })), seen(await ask(op)))
    })

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

  if (has(op, administrator))
    refuses('whoever is no administrator, before the parameters are read', async () => {
      const [without] = op.params?.required ?? []
      const answer = await ask(op, { as: owner, ...(without && { without }) })
      assert.deepEqual(refused(answer), { status: 403, body: { message: '403 Forbidden' } })
    })

  const loader = gatesOf(op).find((gate) => gate.along !== undefined)
  if (loader)
    refuses('a hidden parent as it refuses an absent one', async () => {
      const hidden = await ask(op, { as: stranger, id: parent(op).hidden })
      assert.deepEqual(refused(hidden), refusal(loader))
      assert.deepEqual(seen(hidden), seen(await ask(op, { as: stranger, id: '999999' })))
      assert.deepEqual(seen(hidden), seen(await ask(op, { as: stranger, id: 'no/such-path' })))
    })

  const role = gatesOf(op).find((gate) => gate.level !== undefined)
  if (role)
    for (const [name, level] of Object.entries(ROLES))
      if (level >= ROLES.guest && level < (role.level ?? 0))
        refuses(`a ${name}`, async () => {
          const id = Number(parent(op).id)
          const place = has(op, project) ? { project: { id } } : { group: { id } }
          const member = await world.make.memberOf(name as RoleName, place)
          assert.deepEqual(refused(await ask(op, { as: member })), refusal(role))
        })

  for (const gate of gatesOf(op)) {
    const { param } = gate
    if (gate.kind === 'enables' && gate.tier !== undefined)
      refuses(`below the tier ${gate.tier}`, async () =>
        assert.deepEqual(refused(await ask(op, { in: free })), refusal(gate)),
      )
    else if (gate.kind === 'enables')
      refuses(`without ${gate.says}`, async () => {
        const someone = await hosted.make.admin()
        assert.deepEqual(refused(await ask(op, { in: hosted, as: someone })), refusal(gate))
      })
    if (gate.kind === 'loads' && param !== undefined && gate !== loader)
      refuses(`a :${param} that is not there`, async () => {
        const isNumber = (gate.type as { type?: string }).type === 'integer'
        const none = isNumber ? '987654321' : '0'.repeat(39) + '1'
        const answer = await ask(op, { as: admin, records: { [param]: none } })
        assert.deepEqual(refused(answer), refusal(gate))
      })
    if (gate.kind === 'loads' && param !== undefined && gate !== loader && has(op, group))
      refuses(`a :${param} of another parent, to one who may use both`, async () => {
        const answer = await ask(op, { as: owner, records: parent(op).elsewhere })
        assert.deepEqual(refused(answer), refusal(gate))
      })
  }

  for (const name of op.params?.required ?? [])
    if (!op.path.includes(`:${name}`))
      refuses(`when ${name} is missing`, async () => {
        const answer = await ask(op, { as: admin, without: name })
        assert.deepEqual(refused(answer), { status: 400, body: { error: `${name} is missing` } })
      })
}

test('no refused request changed anything', async () => assert.deepEqual(await rows(), untouched))
