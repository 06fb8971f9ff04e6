import { LineCounter, parseDocument, type ScalarTag, type CollectionTag, type Tags } from 'yaml'
import { isScalar, isSeq, Scalar } from 'yaml'
import { createYield } from '../../event_loop.ts'
import { Reference, type Hash } from './tree.ts'
import { TooBig, YamlFault } from './config_fault.ts'
import { readNodes, type YamlLimits } from './yaml_nodes.ts'

/** The documents of a text (at most two: a header and the configuration), with the line of each root key of the last. */
export interface YamlText {
  readonly documents: readonly Hash[]
  readonly lines: ReadonlyMap<string, number>
}

/** YAML 1.1 as configurations use it: `yes` and `on` are true, `0644` is octal; dates, binaries and `y` are texts. */
const DROPPED = new Set([
  'tag:yaml.org,2002:timestamp',
  'tag:yaml.org,2002:binary',
  'tag:yaml.org,2002:set',
  'tag:yaml.org,2002:omap',
  'tag:yaml.org,2002:pairs',
])
const reference: CollectionTag = {
  tag: '!reference',
  collection: 'seq',
  identify: () => false,
  resolve: (seq) => {
    const keys = isSeq(seq) ? seq.items.map((item) => (isScalar(item) ? item.value : null)) : []
    const valid = keys.length > 0 && keys.every((key) => typeof key === 'string')
    return new Scalar(new Reference(valid ? keys : null))
  },
}
const NO_TEXT = /^(?:y|Y|n|N)$/
const customTags = (tags: Tags): Tags => [
  ...tags
    .filter((tag) => typeof tag === 'string' || !DROPPED.has(tag.tag))
    .filter((tag) => typeof tag === 'string' || !('format' in tag) || tag.format !== 'TIME')
    .map((tag) => (typeof tag !== 'string' && isBool(tag) ? withoutLetters(tag) : tag)),
  reference,
]
const isBool = (tag: ScalarTag | CollectionTag): tag is ScalarTag => tag.tag === 'tag:yaml.org,2002:bool'
const withoutLetters = (tag: ScalarTag): ScalarTag => ({
  ...tag,
  ...(tag.test && { test: new RegExp(`(?!${NO_TEXT.source})${tag.test.source}`) }),
})

const OPTIONS = {
  version: '1.1',
  schema: 'yaml-1.1',
  customTags,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const

/**
 * Parses a text in slices of whole root keys, so that a long one never blocks the event loop. Throws YamlFault for what
 * is no mapping, too big, too deep, or no YAML; the message of a syntax error names its line.
 */
export async function parseYaml(text: string, limits: YamlLimits): Promise<YamlText> {
  if (Buffer.byteLength(text) > limits.bytes || NESTED.test(text)) throw new YamlFault(TOO_BIG)
  const parts = splitDocuments(text)
  if (parts.length > 2) throw new YamlFault('The parsed YAML has too many documents')
  const documents: Hash[] = []
  let lines = new Map<string, number>()
  for (const part of parts) {
    lines = new Map()
    documents.push(await parsePart(part, limits, lines))
  }
  if (documents.length === 0) throw new YamlFault(NO_MAPPING)
  return { documents, lines }
}
const TOO_BIG = 'The parsed YAML is too big'
/** The parser calls itself for each level; so many in a row are no configuration. */
const NESTED = /(?:[[{]\s{0,9}){101}|(?:[-?] ){101}/
const NO_MAPPING = 'Invalid configuration format'

interface Part {
  readonly text: string
  /** Lines of the text before this part. */
  readonly offset: number
}

/** A line `---` ends a document wherever it stands. */
function splitDocuments(text: string): Part[] {
  const parts: Part[] = []
  let [start, offset] = [0, 0]
  const push = (end: number): void => {
    const part = text.slice(start, end)
    if (/^[ \t]*[^\s#%]/m.test(part)) parts.push({ text: part, offset })
  }
  for (const match of text.matchAll(/^(?:---|\.\.\.)(?=\s|$)/gm)) {
    push(match.index)
    offset += text.slice(start, match.index).split('\n').length - 1
    start = match.index + 3
  }
  push(text.length)
  return parts
}

const SLICE_CHARACTERS = 6_000

/** Slices of whole root keys. What does not begin with one is a slice by itself. */
function sliceKeys({ text, offset }: Part): Part[] {
  const slices: Part[] = []
  let [start, line, from] = [0, offset, offset]
  for (let at = 0; at < text.length; line += 1) {
    const next = text.indexOf('\n', at) + 1 || text.length + 1
    const isKey = !/[\s#\-\]}%]/.test(text[at] ?? ' ')
    if (isKey && at - start > SLICE_CHARACTERS) {
      slices.push({ text: text.slice(start, at), offset: from })
      start = at
      from = line
    }
    at = next
  }
  return [...slices, { text: text.slice(start), offset: from }]
}

async function parsePart(part: Part, limits: YamlLimits, lines: Map<string, number>): Promise<Hash> {
  const breathe = createYield()
  const reader = readNodes(limits)
  const isFlow = /^\s*[[{]/.test(part.text)
  for (const slice of isFlow ? [part] : sliceKeys(part)) {
    await breathe()
    readSlice(slice, reader, lines)
  }
  const result = reader.result()
  if (result === undefined) throw new YamlFault(NO_MAPPING)
  return result
}

function readSlice(slice: Part, reader: ReturnType<typeof readNodes>, lines: Map<string, number>): void {
  const counter = new LineCounter()
  try {
    const document = parseDocument(slice.text, { ...OPTIONS, lineCounter: counter })
    const [error] = [...document.errors, ...document.warnings]
    if (error !== undefined) {
      if (error.message.startsWith('Maximum call stack')) throw new TooBig()
      const { line, col } = counter.linePos(error.pos[0])
      throw new YamlFault(`(<unknown>): ${error.message} at line ${line + slice.offset} column ${col}`)
    }
    reader.add(document.contents, (key, position) =>
      lines.set(key, counter.linePos(position).line + slice.offset),
    )
  } catch (error) {
    if (error instanceof TooBig || error instanceof RangeError) throw new YamlFault(TOO_BIG)
    throw error
  }
}
