import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { Compile } from 'typebox/compile'
import { operations } from '../src/areas/index.ts'
import { nothing, successOf } from '../src/http/operation.ts'
import { roleTables } from './calls/index.ts'

const file = new URL('../src/console/assets/examples.json', import.meta.url)
const examples = JSON.parse(await readFile(file, 'utf8')) as Record<
  string,
  { readonly status: number; readonly body: unknown }
>

// `TEST_EXAMPLES=src/console/assets/examples.json npm test -- roles_private` records them anew.
test('each operation that answers JSON to one of the callers has an example that fits its schema', () => {
  const faults = operations.flatMap((op) => {
    const succeeds = roleTables.private.get(op.name)?.some((status) => status < 300) === true
    if (!succeeds || op.returns === nothing || 'format' in op.returns) return []
    const example = examples[op.name]
    if (example === undefined) return [`${op.name} has none`]
    if (example.status !== successOf(op)) return []
    return Compile(op.returns).Check(example.body) ? [] : [`${op.name} does not fit`]
  })
  assert.deepEqual(faults, [])
})

test('examples hold no secret and no moment of their recording', () => {
  const text = JSON.stringify(examples)
  assert.doesNotMatch(text, /\bgl[a-z]+-[\w-]{20}/)
  assert.deepEqual([...new Set(text.match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g))], ['2026-01-31T12:00:00.000Z'])
})
