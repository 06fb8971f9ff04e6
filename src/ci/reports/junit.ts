import { SaxesParser } from 'saxes'
import { createYield } from '../event_loop.ts'
import { BadReport } from './report_file.ts'

/** One case of a JUnit report. */
export interface TestCase {
  readonly status: 'error' | 'failed' | 'success' | 'skipped'
  readonly name: string
  readonly classname: string
  readonly file: string | null
  /** Seconds. */
  readonly execution_time: number
  readonly system_output: string | null
}

const MAX_DEPTH = 100
const CHUNK_CHARACTERS = 64 * 1024
const STATUSES: Readonly<Record<string, TestCase['status']>> = {
  failure: 'failed',
  error: 'error',
  skipped: 'skipped',
}

interface OpenCase {
  readonly attributes: Readonly<Record<string, string>>
  status: TestCase['status']
  message: string
  text: string
}

/**
 * Reads the cases of a JUnit report, or of several behind each other, as the runner joins them. Throws BadReport for what
 * is no XML, and past `limit` cases.
 */
export async function readJunit(text: string, limit: number): Promise<TestCase[]> {
  const parser = new SaxesParser({ fragment: true, xmlns: false } as const)
  const cases: TestCase[] = []
  const path: string[] = []
  let open: OpenCase | undefined
  let elements = 0
  parser.on('error', (error) => {
    throw new BadReport(error.message)
  })
  parser.on('opentag', ({ name, attributes }) => {
    elements += 1
    if (path.push(name) > MAX_DEPTH) throw new BadReport('elements are nested too deeply')
    const status = STATUSES[name]
    if (name === 'testcase') open = { attributes, status: 'success', message: '', text: '' }
    else if (open !== undefined && status !== undefined) {
      open.status = status
      open.message = attributes['message'] ?? ''
    }
  })
  const add = (piece: string): void => {
    if (open !== undefined && STATUSES[path.at(-1) ?? ''] !== undefined) open.text += piece
  }
  parser.on('text', add)
  parser.on('cdata', add)
  parser.on('closetag', ({ name }) => {
    path.pop()
    if (name !== 'testcase' || open === undefined) return
    if (cases.push(caseOf(open)) > limit) throw new BadReport(`more than ${limit} test cases`)
    open = undefined
  })
  const breathe = createYield()
  // Each report of several begins with a declaration.
  const body = text.replaceAll(/<\?xml\s[^>]{0,200}\?>/g, '')
  for (let at = 0; at < body.length; at += CHUNK_CHARACTERS) {
    parser.write(body.slice(at, at + CHUNK_CHARACTERS))
    await breathe()
  }
  parser.close()
  if (elements === 0 && body.trim() !== '') throw new BadReport('there is no element')
  return cases
}

function caseOf({ attributes, status, message, text }: OpenCase): TestCase {
  const seconds = Number(attributes['time'] ?? 0)
  return {
    status,
    name: attributes['name'] ?? '',
    classname: attributes['classname'] ?? '',
    file: attributes['file'] ?? null,
    execution_time: Number.isFinite(seconds) && seconds > 0 ? seconds : 0,
    system_output: status === 'success' ? null : text.trim() || message || null,
  }
}
