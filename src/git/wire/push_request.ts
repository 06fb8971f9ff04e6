import { GitError } from '../errors.ts'
import type { PktReader } from './pkt_lines.ts'

/** One ref that a push wants moved: `from` undefined where it should not exist yet, `to` undefined where it should go. */
export interface PushCommand {
  readonly ref: string
  readonly from: string | undefined
  readonly to: string | undefined
}

/** The part of a push before its pack. */
export interface PushRequest {
  readonly commands: readonly PushCommand[]
  readonly capabilities: ReadonlySet<string>
  readonly options: readonly string[]
}

const maxCommands = 20_000
const maxOptions = 100
const command = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\n\r]+)$/
const none = '0'.repeat(40)
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the commands and options of a push, up to where its pack begins. No commands at all is what a client sends to
 * see whether it is let in. Throws GitError `refused` for what git would not send, `too_large`, `aborted`.
 */
export async function readPush(reader: PktReader): Promise<PushRequest> {
  const commands: PushCommand[] = []
  let capabilities = new Set<string>()
  for (let line = await reader.line(); line !== undefined; line = await reader.line()) {
    // A shallow clone tells where it ends. What it pushes must be whole here all the same.
    if (line.subarray(0, 8).toString('latin1') === 'shallow ') continue
    const [text = '', offered] = textOf(line).split('\0')
    if (commands.length === 0) capabilities = new Set((offered ?? '').split(' ').filter(Boolean))
    commands.push(readCommand(text))
    if (commands.length > maxCommands) throw new GitError('too_large', 'Too many refs in one push')
  }
  const options: string[] = []
  if (capabilities.has('push-options'))
    for (let line = await reader.line(); line !== undefined; line = await reader.line()) {
      options.push(textOf(line))
      if (options.length > maxOptions) throw new GitError('too_large', 'Too many push options')
    }
  return { commands, capabilities, options }
}

function readCommand(text: string): PushCommand {
  const [, from = none, to = none, ref] = command.exec(text) ?? []
  if (ref === undefined) throw new GitError('refused', 'Not a command of a push')
  return { ref, from: from === none ? undefined : from, to: to === none ? undefined : to }
}

function textOf(line: Buffer): string {
  try {
    return utf8.decode(line)
  } catch (error) {
    throw new GitError('refused', 'Names of refs are UTF-8', { cause: error })
  }
}
