import { Type as t, type Static } from 'typebox'
import type { Change } from '../../git/changes.ts'
import { LongText } from '../../http/long_text.ts'
import { badParams } from '../../http/problems.ts'
import { fileText, needs, oneOf } from '../../http/schema.ts'

/** One action of a commit, as it is sent. */
export const Action = t.Object(
  {
    action: oneOf(['create', 'update', 'move', 'delete', 'chmod']),
    file_path: t.String({ description: 'The full path of the file; of a move, where it goes' }),
    previous_path: t.Optional(t.String({ description: 'Where a moved file comes from' })),
    content: t.Optional(fileText({ description: 'A moved file without it keeps its content' })),
    encoding: t.Optional(oneOf(['text', 'base64'], { default: 'text' })),
    last_commit_id: t.Optional(
      t.String({ description: 'The last commit of the file that the caller knows of' }),
    ),
    execute_filemode: t.Optional(t.Boolean()),
  },
  needs('action', {
    create: ['content'],
    update: ['content'],
    move: ['previous_path'],
    chmod: ['execute_filemode'],
  }),
)
type Action = Static<typeof Action>

/** The changes of a tree that the actions ask for, their contents decoded one by one. Throws a Problem for what cannot be decoded. */
export async function changesOf(actions: readonly Action[]): Promise<Change[]> {
  const changes: Change[] = []
  for (const [i, action] of actions.entries()) changes.push(await changeOf(action, i))
  return changes
}

async function changeOf(action: Action, i: number): Promise<Change> {
  const path = inTree(action.file_path)
  switch (action.action) {
    case 'create':
    case 'update':
      return { action: action.action, path, content: await contentOf(action, i) }
    case 'move': {
      const keeps = action.content === undefined || action.content === null
      const from = inTree(action.previous_path ?? '')
      return { action: 'move', path, from, ...(!keeps && { content: await contentOf(action, i) }) }
    }
    case 'delete':
      return { action: 'delete', path }
    case 'chmod':
      return { action: 'chmod', path, executable: action.execute_filemode ?? false }
  }
}

/** One leading slash is tolerated, as published. */
const inTree = (path: string): string => path.replace(/^\//, '')

/** The files that the caller knows a last commit of. */
export const knownIn = (actions: readonly Action[]): { path: string; commit: string }[] =>
  actions.flatMap(({ action, file_path, previous_path, last_commit_id: commit }) =>
    action === 'create' || commit === undefined || commit === ''
      ? []
      : [{ path: inTree((action === 'move' && previous_path) || file_path), commit }],
  )

async function contentOf({ content, encoding }: Action, i: number): Promise<Buffer> {
  if (content === undefined || content === null) return Buffer.alloc(0)
  const bytes = content instanceof LongText ? await content.bytes() : Buffer.from(content)
  if (encoding !== 'base64') return bytes
  const decoded = decodeBase64(bytes)
  if (decoded === undefined) throw badParams([`actions[${i}][content] is invalid`])
  return decoded
}

/** Bytes decoded at a time: a multiple of four. */
const STEP = 3 * 256 * 1024

/**
 * Decodes base64 in its plain alphabet. White space between is passed over, as mail programs break lines, and padding
 * may be left out. Undefined for anything else: half a file is worse than none.
 */
export function decodeBase64(bytes: Buffer): Buffer | undefined {
  const text = withoutSpace(bytes)
  const body = text.subarray(0, text.length - padding(text))
  if (body.length % 4 === 1 || (text.length > body.length && text.length % 4 !== 0)) return undefined
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += STEP) {
    const part = body.toString('latin1', at, Math.min(at + STEP, body.length))
    if (!/^[A-Za-z0-9+/]*$/.test(part)) return undefined
    parts.push(Buffer.from(part, 'base64'))
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
}

const EQUALS = 0x3d
const padding = (text: Buffer): number => (text.at(-1) !== EQUALS ? 0 : text.at(-2) === EQUALS ? 2 : 1)

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || (byte !== undefined && byte >= 9 && byte <= 13)

/** The same bytes where there is no space in them; else those between. */
function withoutSpace(bytes: Buffer): Buffer {
  let end = 0
  for (let at = 0; at < bytes.length; at += 1) {
    if (isSpace(bytes[at])) continue
    if (end !== at) bytes[end] = bytes[at] ?? 0
    end += 1
  }
  return bytes.subarray(0, end)
}
