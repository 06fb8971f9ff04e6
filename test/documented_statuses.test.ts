import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ABOUT } from '../src/areas/about.ts'
import { operations } from '../src/areas/index.ts'
import { openapi } from '../src/http/documents/openapi.ts'
import { pageOptionsOf, type NamedOperation } from '../src/http/operation.ts'
import { callsOf } from './calls/index.ts'
import { sharedWorld } from './support/stand.ts'
import type { Someone } from './support/makers.ts'
import type { CallOptions } from './support/world.ts'

interface Described {
  readonly operationId: string
  readonly responses: Readonly<Record<string, unknown>>
  readonly parameters: readonly { readonly name?: string; readonly schema?: { readonly enum?: string[] } }[]
}
const document = openapi(operations, 'http://localhost', ABOUT) as {
  readonly components: { readonly responses: Readonly<Record<string, unknown>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
}
const described = new Map(
  Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map((one) => [one.operationId, one] as const),
  ),
)
/** A response, or the component that it names. */
const resolved = (response: unknown): unknown => {
  const { $ref } = response as { readonly $ref?: string }
  return $ref === undefined ? response : document.components.responses[$ref.split('/').at(-1) ?? '']
}
const statusesOf = ({ name }: NamedOperation): Set<number> =>
  new Set(Object.keys(described.get(name)?.responses ?? {}).map(Number))

let admin: Someone
let project: { readonly id: number }
const world = sharedWorld(async ({ make }) => {
  admin = await make.admin()
  project = await make.project()
  // Uploads are read behind all gates, so the record that they are for must be there.
  await make.sql(`insert into alerts (project_id, iid, title, severity, started_at, payload)
    values (${project.id}, ${project.id}, 'x', 'low', now(), '{}')`)
})

const filled = ({ path }: NamedOperation, value: string): string => path.replaceAll(/:\w+/g, value)

/** Calls each operation and names those that answer a status which the document does not have, or not `expected`. */
async function undocumented(
  chosen: readonly NamedOperation[],
  expected: number,
  callOf: (op: NamedOperation) => { readonly path: string; readonly options?: CallOptions },
): Promise<string[]> {
  const wrong: string[] = []
  for (const op of chosen) {
    const { path, options } = callOf(op)
    const { status } = await world().call(op.method, path, { as: admin, ...options })
    if (status !== expected || !statusesOf(op).has(status)) wrong.push(`${op.name}: ${status}`)
  }
  return wrong
}

const addressed = operations.filter(({ path }) => path.includes(':'))
const writes = operations.filter(({ method }) => method !== 'GET')
/** Those that read tokens, and bodies by the kernel's rules. */
const signedIn = operations.filter(({ inbound, ownToken }) => inbound === undefined && !ownToken)
const signedInWrites = writes.filter(({ inbound }) => inbound === undefined)
const parsed = signedInWrites.filter(({ receives }) => receives === undefined)
const lists = operations.filter(({ returns }) => pageOptionsOf(returns)?.keyset === false)
const JSON_TYPE = { 'content-type': 'application/json' }

suite('the document has each status that the kernel answers', () => {
  test('405 of lists without keyset pagination, whose parameter does not offer it', async () => {
    assert.deepEqual(
      await undocumented(lists, 405, (op) => ({
        path: `${filled(op, String(project.id))}?pagination=keyset`,
      })),
      [],
    )
    const offered = lists.filter(({ name }) =>
      described
        .get(name)
        ?.parameters.some((one) => one.name === 'cursor' || one.schema?.enum?.includes('keyset')),
    )
    assert.deepEqual(
      offered.map(({ name }) => name),
      [],
    )
  })
  test('400 of ids in the path', async () => {
    // Inbound operations judge the payload first, so they get a good one.
    const payloadOf = ({ name, inbound }: NamedOperation): CallOptions => {
      const body = inbound && callsOf(name).bodies?.[name]
      return typeof body === 'object' ? { body } : {}
    }
    assert.deepEqual(
      await undocumented(addressed, 400, (op) => ({ path: filled(op, '%00'), options: payloadOf(op) })),
      [],
    )
  })
  test('414 of long addresses', async () => {
    const long = 'a'.repeat(5_000)
    assert.deepEqual(await undocumented(addressed, 414, (op) => ({ path: filled(op, long) })), [])
  })
  test('400, 413 and 415 of bodies', async () => {
    const body = (text: string, headers: Record<string, string>): Parameters<typeof undocumented>[2] => {
      const options = { body: text, headers }
      // The path of a Maven file is judged before its body.
      return (op) => ({
        path: filled(op, String(project.id)).replace(/maven\/\d+$/, 'maven/com/crane/1/crane-1.jar'),
        options,
      })
    }
    assert.deepEqual(await undocumented(parsed, 400, body('{', JSON_TYPE)), [])
    assert.deepEqual(await undocumented(parsed, 415, body('x', { 'content-type': 'application/x' })), [])
    const encoded = { ...JSON_TYPE, 'content-encoding': 'br' }
    assert.deepEqual(await undocumented(signedInWrites, 415, body('{}', encoded)), [])
    const small = parsed.filter(({ takes }) => takes === undefined)
    const long = JSON.stringify({ x: 'x'.repeat(1024 * 1024) })
    assert.deepEqual(await undocumented(small, 413, body(long, JSON_TYPE)), [])
  })
  test('401 in both its shapes: no token, and a token that is found and will not do', () => {
    const schemas = signedIn.map((op) =>
      JSON.stringify(resolved(described.get(op.name)?.responses['401']) ?? null),
    )
    for (const name of ['Message', 'TokenError'])
      assert.ok(schemas.every((schema) => schema.includes(`#/components/schemas/${name}"`)))
  })
  test('408, 429, 431, 500 and 503 of any operation; 507 of any write, 413 and 415 of those signed in', () => {
    const lacking = (some: readonly NamedOperation[], statuses: readonly number[]): string[] =>
      some.filter((op) => !statuses.every((status) => statusesOf(op).has(status))).map(({ name }) => name)
    assert.deepEqual(lacking(operations, [408, 429, 431, 500, 503]), [])
    assert.deepEqual(lacking(writes, [507]), [])
    assert.deepEqual(lacking(signedInWrites, [413, 415]), [])
  })
})
