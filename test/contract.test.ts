import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { ABOUT } from '../src/areas/about.ts'
import { operations } from '../src/areas/index.ts'
import { openapi } from '../src/http/documents/openapi.ts'

interface Row {
  readonly area: string
  readonly method: string
  readonly path: string
  readonly provenance: string
  readonly tier: string
}

const text = await readFile(new URL('./fixtures/operations.tsv', import.meta.url), 'utf8')
const rows = text
  .trim()
  .split('\n')
  .slice(1)
  .map((line): Row => {
    const [area = '', method = '', path = '', provenance = '', tier = ''] = line.split('\t')
    return { area, method, path, provenance, tier }
  })

function keyOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path.replaceAll(/:\w+/g, ':')}`
}

interface Documented {
  readonly 'x-provenance': string
  readonly 'x-tier': string
}
const document = openapi(operations, 'http://localhost', ABOUT) as {
  paths: Record<string, Record<string, Documented>>
}
const documented = new Map(
  Object.entries(document.paths).flatMap(([path, { servers, ...methods }]) =>
    Object.entries(methods).map(([method, operation]) => [
      keyOf({
        method: method.toUpperCase(),
        path: (servers ? '{base_url}' : '') + path.replaceAll(/\{(\w+)\}/g, ':$1'),
      }),
      operation,
    ]),
  ),
)

test('the table of operations is whole', () => assert.equal(rows.length, 148))

test('every operation of the table is in the document, with its provenance and tier', () => {
  const found = rows.map((row) => [
    keyOf(row),
    documented.get(keyOf(row))?.['x-provenance'],
    documented.get(keyOf(row))?.['x-tier'],
  ])
  assert.deepEqual(
    found,
    rows.map((row) => [keyOf(row), row.provenance, row.tier]),
  )
})

test('operations beside the table are marked as published', () => {
  const known = new Set(rows.map(keyOf))
  const beside = [...documented].filter(([key]) => !known.has(key))
  assert.deepEqual(
    beside.filter(([, operation]) => operation['x-provenance'] !== 'published'),
    [],
  )
})

const VERBS = [
  'list get create update delete check search render add remove set mark subscribe unsubscribe cherryPick revert',
  'revoke rotate block unblock activate deactivate share unshare transfer archive unarchive fork star unstar promote',
  'load query merge rebase approve unapprove move restore resolve invite import introspect download',
  'retry cancel play erase keep take stop test resend',
].flatMap((line) => line.split(' '))

test('operation names are unique and start with a verb', () => {
  const names = operations.map((operation) => operation.name)
  assert.equal(new Set(names).size, names.length)
  const verbs = new RegExp(`^(${VERBS.join('|')})[A-Z]`)
  assert.deepEqual(
    names.filter((name) => !verbs.test(name)),
    [],
  )
})

/** Every part of the document that is called deprecated, by the words or by the mark. */
function deprecated(part: unknown, at: string, marked: boolean): string[] {
  if (typeof part !== 'object' || part === null) return []
  const { deprecated: mark, description, summary } = part as Record<string, unknown>
  const said = /^Deprecated|\(deprecated/.test(`${String(description)} ${String(summary)}`)
  const here = (marked ? mark === true : said && mark !== true) ? [at] : []
  return [
    ...here,
    ...Object.entries(part).flatMap(([key, value]) => deprecated(value, `${at}/${key}`, marked)),
  ]
}

test('deprecated operations are marked', () => {
  assert.deepEqual(deprecated(document, '', false), [])
  const marked = deprecated(document, '', true)
  const properties = (name: string): Record<string, { deprecated?: true }> =>
    (operations.find((one) => one.name === name)?.returns as { properties?: object })?.properties as Record<
      string,
      { deprecated?: true }
    >
  for (const [name, property] of [
    ['getGroup', 'projects'],
    ['getGroup', 'shared_projects'],
    ['getProject', 'tag_list'],
  ] as const)
    assert.equal(properties(name)[property]?.deprecated, true, property)
  for (const path of ['/groups/{id}/labels/put', '/groups/{id}/labels/delete'])
    assert.ok(marked.includes(`/paths/${path}`), path)
  const list = document.paths['/projects/{id}/milestones']?.['get'] as
    { parameters?: { name: string; deprecated?: true }[] } | undefined
  assert.deepEqual(
    list?.parameters?.filter((one) => one.deprecated).map(({ name }) => name),
    ['include_parent_milestones'],
  )
})
