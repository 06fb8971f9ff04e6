/* Every recorded call of the unmodified client @gitbeaker/rest whose path is served: what it gets, and what it is refused. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Gitlab } from '@gitbeaker/rest'
import { operations } from '../../src/areas/index.ts'
import type { NamedOperation } from '../../src/http/operation.ts'
import { requiredOf } from '../../src/http/params/params.ts'
import { resolve } from '../calls/calls.ts'
import { callsOf } from '../calls/index.ts'
import { callerOf, openScene, setScene, type Scene } from '../calls/scene.ts'
import { errorOf } from '../support/harbour.ts'
import { sharedWorld } from '../support/stand.ts'

interface Recorded {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly client: string
  readonly call: string
  /** The names of the call's arguments, the last of which are its options. */
  readonly params: readonly string[]
}

const rows = (await readFile(new URL('../fixtures/gitbeaker_calls.tsv', import.meta.url), 'utf8'))
  .trim()
  .split('\n')
  .slice(1)
  .map((line): Recorded => {
    const [client = '', signature = '', wire = ''] = line.split('\t')
    const [, call = '', list = ''] = /^(\w+)\((.*)\)$/.exec(signature) ?? []
    const [method = '', url = ''] = wire.split(' ')
    const [path = ''] = url.split('?')
    return { name: `${client}.${call}`, method, path, client, call, params: list.split(/,\s*/) }
  })

const segments = (path: string): string[] => path.split('/')
const isFilled = (part: string): boolean => part === '7' || part.startsWith('v_')
/** The operation that a recorded address leads to: one that has parameters just where the record has values. */
const served = ({ method, path }: Recorded): NamedOperation | undefined =>
  operations.find((op) => {
    const [wanted, given] = [segments(op.path), segments(path)]
    return (
      op.method === method &&
      wanted.length === given.length &&
      wanted.every((part, at) => (part.startsWith(':') ? isFilled(given[at] ?? '') : part === given[at]))
    )
  })

/** Areas that are not there yet, and calls of the client's own making that no server of this interface has. */
const ABSENT =
  /^(ErrorTracking|FreezePeriods|ProductAnalytics|ResourceGroups|EpicAwardEmojis|ProjectAliases\.edit|(Group|Project)Labels\.(un)?subscribe|GroupLabels\.promote|Groups\.(allProvisionedUsers|downloadAvatar|restore))/

let scene: Scene
let url = ''
const world = sharedWorld(async (here) => {
  scene = await openScene(here, 'private')
  await here.app.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(here.app.server.address() as AddressInfo).port}`
})

/** Arguments that the client names otherwise than the interface. */
const WIRE_NAMES: Readonly<Record<string, string>> = {
  message: 'commit_message',
  labelName: 'name',
  sharedGroupId: 'group_id',
}
const wireName = (name: string): string =>
  WIRE_NAMES[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const clientName = (name: string): string =>
  name.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())

/** Values for the call's arguments: first what stands in the path, then what it names, the rest as options. */
function argumentsOf(
  recorded: Recorded,
  op: NamedOperation,
  path: Readonly<Record<string, string>>,
): unknown[] {
  const names = [...op.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const { bodies, queries } = callsOf(op.name)
  const body = resolve(bodies?.[op.name], scene)
  const rest = new Map<string, unknown>(
    Object.entries({ ...resolve(queries?.[op.name], scene), ...(typeof body === 'object' && body) }),
  )
  const placed = recorded.params.slice(names.length).map((param) => {
    if (param === 'options' || param === '{}') return undefined
    const value = rest.get(wireName(param))
    rest.delete(wireName(param))
    return value
  })
  const options = Object.fromEntries(
    [...rest].map(([name, value]) => [clientName(name.replace('[]', '')), value]),
  )
  const last = recorded.params.length - names.length - 1
  return [...names.map((name) => path[name]), ...placed.slice(0, last), options]
}

async function send(
  recorded: Recorded,
  values: readonly unknown[],
  token = callerOf(scene, 'admin').token,
): Promise<unknown> {
  const client = new Gitlab({ host: url, token }) as unknown as Record<
    string,
    Record<string, (...values: unknown[]) => Promise<unknown>>
  >
  return client[recorded.client]?.[recorded.call]?.(...values)
}

/** An option that not every word is a value of. */
const optionOf = ({ params }: NamedOperation): string | undefined =>
  Object.entries<{ type?: string; enum?: unknown }>(params?.properties ?? {}).find(
    ([, of]) => of.type === 'boolean' || of.type === 'integer' || of.enum !== undefined,
  )?.[0]

/** The commit is unsigned, and a free name is no record. */
const UNSIGNED = 'Commits.showGPGSignature'
const NO_RECORD = 'Namespaces.exists'
/** Not even an administrator changes a trigger token of somebody else. */
const OF_ITS_OWNER = 'PipelineTriggerTokens.edit'

for (const recorded of rows) {
  const op = served(recorded)
  if (op === undefined) continue
  const ask = async (
    change: (path: Readonly<Record<string, string>>) => Record<string, string>,
  ): Promise<unknown> => {
    const path = await setScene(world(), scene, op)
    const { token } = callerOf(scene, recorded.name === OF_ITS_OWNER ? 'maintainer' : 'admin')
    return send(recorded, argumentsOf(recorded, op, { ...path, ...change(path) }), token)
  }
  if (recorded.name !== UNSIGNED)
    test(`${recorded.name} gets what it asks for`, async () => {
      await ask(() => ({}))
    })
  const [parent] = [...op.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  if (parent !== undefined && recorded.name !== NO_RECORD)
    test(`${recorded.name} is told that there is no such :${parent}`, async () => {
      const { status, message } = await errorOf(ask(() => ({ [parent]: '987654321' })))
      assert.deepEqual([status, message.slice(0, 4)], [404, '404 '])
    })
  const required = requiredOf(op.params).filter((name) => !op.path.includes(`:${name}`))
  if (parent === undefined && required.length > 0)
    test(`${recorded.name} is told what is wrong with blank words`, async () => {
      const path = await setScene(world(), scene, op)
      const blank = argumentsOf(recorded, op, path).map((value) => (typeof value === 'string' ? '' : value))
      assert.equal((await errorOf(send(recorded, blank))).status, 400)
    })
  if ((parent !== undefined && recorded.name !== NO_RECORD) || required.length > 0) continue
  const option = optionOf(op)
  if (option !== undefined)
    test(`${recorded.name} is told what is wrong with :${option}`, async () => {
      const given = argumentsOf(recorded, op, await setScene(world(), scene, op))
      const last = { ...(given.at(-1) as object), [clientName(option)]: 'neither' }
      const { status, message } = await errorOf(send(recorded, [...given.slice(0, -1), last]))
      assert.equal(status, 400)
      assert.match(message, new RegExp(`${option} (is invalid|does not have a valid value)`))
    })
  else
    test(`${recorded.name} is told that nobody bears the token`, async () => {
      const given = argumentsOf(recorded, op, await setScene(world(), scene, op))
      assert.equal((await errorOf(send(recorded, given, 'nobodys'))).status, 401)
    })
}

test('every recorded call is served, but for those of areas that are not there yet', () => {
  const missing = rows.filter((recorded) => served(recorded) === undefined).map(({ name }) => name)
  assert.deepEqual(
    missing.filter((name) => !ABSENT.test(name)),
    [],
  )
})
