import { writeFileSync } from 'node:fs'
import type { NamedOperation } from '../../src/http/operation.ts'
import type { Answered } from '../support/world.ts'

/** Characters of a text, and entries of a list, that an example shows. */
const MAX_CHARACTERS = 300
const MAX_ENTRIES = 2

interface Example {
  readonly status: number
  readonly body: unknown
}

/** Records an example of each operation, where `TEST_EXAMPLES` names a file for them: the reference page shows it. */
export function createExamples(): {
  readonly record: (op: NamedOperation, answer: Answered) => void
  readonly write: () => void
} {
  const file = process.env['TEST_EXAMPLES']
  const examples = new Map<string, Example>()
  return {
    record: (op, { status, body, headers }) => {
      const isJson = String(headers['content-type']).startsWith('application/json')
      if (file === undefined || status >= 300 || !isJson || !isEmpty(examples.get(op.name)?.body)) return
      examples.set(op.name, { status, body: shortened(body) })
    },
    write: () => {
      if (file === undefined) return
      const sorted = [...examples].sort(([a], [b]) => (a < b ? -1 : 1))
      writeFileSync(file, `${JSON.stringify(Object.fromEntries(sorted), null, 1)}\n`)
    },
  }
}

const isEmpty = (body: unknown): boolean => body === undefined || (Array.isArray(body) && body.length === 0)

/** Without what differs from run to run, and no longer than people read. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map(shortened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, shortened(entry)]))
}

const text = (value: string): string =>
  (value.length > MAX_CHARACTERS ? `${value.slice(0, MAX_CHARACTERS)}…` : value)
    .replaceAll(/\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|\+00:00)/g, '2026-01-31T12:00:00.000Z')
    .replaceAll(/\b(gl[a-z]+-)[\w-]{20,}/g, '$1…')
