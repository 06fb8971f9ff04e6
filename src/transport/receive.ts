import type { Readable } from 'node:stream'
import { sealOptions } from '../core/pushes/options.ts'
import { movingRefs } from '../core/pushes/pushes.ts'
import { isGitDiskFull, isGitError } from '../git/errors.ts'
import { isServerRef } from '../git/names.ts'
import type { PushReport, RefVerdict } from '../git/wire/push_report.ts'
import type { PushCommand } from '../git/wire/push_request.ts'
import { Quarantine } from '../git/wire/quarantine.ts'
import type { RefMove } from '../git/refs/refs.ts'
import { judgeAll, recheckPush, type Judgement, type Push } from './judging.ts'
import { HIDDEN } from './push_policy.ts'

const HEADS = 'refs/heads/'
/** Git's message for a ref that was moved concurrently. */
const OVERTAKEN = 'fetch first'
const BATCH = 256
const PACK_HEADER = 12
/** The message for every ref of a push with another refused ref. */
const DECLINED = 'pre-receive hook declined'

interface Outcome {
  /** Messages for people. */
  readonly words: string
  /** 'ok', or why the pack was not taken. */
  readonly unpack: string
  readonly verdicts: readonly RefVerdict[]
}

/** Takes a push, or refuses it, and returns what the client is told. Throws only for faults of this server. */
export async function receive(push: Push, report: PushReport): Promise<Buffer> {
  const { words, unpack, verdicts } = await settleVisible(push)
  // An overtaken pusher keeps the claim to a turn; any other result ends it.
  if (!verdicts.some(({ refusal }) => refusal === OVERTAKEN)) {
    const { instance, entry } = push
    instance.git.repository(entry.path).turns.landed(String(entry.actor.id))
  }
  return Buffer.concat([report.words(push.remark), report.words(words), report.end(unpack, verdicts)])
}

/** Refuses refs of the server one by one, as git does, unless the push is atomic: mirrors of others bring such along. */
async function settleVisible(push: Push): Promise<Outcome> {
  const { commands, capabilities } = push.request
  const visible = commands.filter(({ ref }) => !isServerRef(ref))
  if (visible.length === 0 || capabilities.has('atomic')) return settle(push)
  const outcome = await settle({ ...push, request: { ...push.request, commands: visible } })
  const hidden = commands.filter(({ ref }) => isServerRef(ref))
  return {
    ...outcome,
    verdicts: [...outcome.verdicts, ...hidden.map(({ ref }) => ({ ref, refusal: HIDDEN }))],
  }
}

async function settle(push: Push): Promise<Outcome> {
  const { instance, entry, request } = push
  const { commands } = request
  const repository = instance.git.repository(entry.path)
  const isEmpty = (await repository.refs(HEADS)).length === 0
  const judged = await judgeAll(push, entry, isEmpty)
  if (judged.size !== new Set(commands.map(({ ref }) => ref)).size)
    return refuseAll(commands, () => 'multiple updates for ref')
  const refused = refuseSome(judged)
  if (refused !== undefined) {
    await hearOut(push.reader.rest())
    return refused
  }
  const quarantine = new Quarantine(instance.git.spawner, instance.git.directory(entry.path))
  try {
    const fault = await check(push, quarantine, judged)
    if (fault !== undefined) return fault
    const verdicts = await movingRefs(
      { ...instance, actor: entry.actor, options: sealOptions(instance.vault.seal, request.options) },
      entry.project,
      isEmpty,
      () => move(push, quarantine, { judged, isEmpty }),
    )
    return { words: '', unpack: 'ok', verdicts }
  } finally {
    await quarantine.discard()
  }
}

/** A push that is refused in part is refused whole, as published; each ref says why. */
function refuseSome(judged: Judgement): Outcome | undefined {
  const refusals = new Set([...judged.values()].flatMap(({ refusal }) => refusal ?? []))
  if (refusals.size === 0) return undefined
  return {
    words: [...refusals].join('\n'),
    unpack: 'ok',
    verdicts: [...judged].map(([{ ref }, { refusal }]) => ({
      ref,
      // Texts longer than a line go to the messages for people.
      refusal: refusal === undefined || refusal.includes('\n') ? DECLINED : refusal,
    })),
  }
}

const refuseAll = (
  commands: readonly PushCommand[],
  why: (command: PushCommand) => string,
  { words = '', unpack = 'ok' } = {},
): Outcome => ({ words, unpack, verdicts: commands.map((one) => ({ ref: one.ref, refusal: why(one) })) })

/** Git says all it has to before it listens, so what it says is heard out and thrown away. */
const hearOut = (rest: Readable): Promise<void> =>
  new Promise((resolve) => {
    if (rest.readableEnded || rest.destroyed) return resolve()
    for (const event of ['end', 'close', 'error']) rest.once(event, () => resolve())
    rest.resume()
  })

/** Looks at what came: the pack, each object in it, and whether all that the refs will reach is there. */
async function check(push: Push, quarantine: Quarantine, judged: Judgement): Promise<Outcome | undefined> {
  const { request, reader, maxBytes } = push
  const { commands } = request
  const wanted = commands.flatMap(({ to }) => to ?? [])
  if (wanted.length === 0) return undefined
  const header = await reader.peek(PACK_HEADER)
  const pack = reader.rest()
  if (header.length < PACK_HEADER || header.toString('latin1', 0, 4) !== 'PACK')
    return refuseAll(commands, () => 'unpacker error', { unpack: 'eof before pack header was fully read' })
  try {
    await quarantine.unpack(pack, header.readUInt32BE(8), maxBytes)
  } catch (error) {
    if (!isGitError(error, 'exit') && !isGitError(error, 'aborted')) throw error
    if (isGitDiskFull(error)) {
      await hearOut(pack)
      throw error
    }
    const words = isGitError(error, 'exit') ? saidBy(error.stderr) : ''
    await hearOut(pack)
    return refuseAll(commands, () => 'unpacker error', { words, unpack: 'unpack-objects abnormal exit' })
  }
  const large = await quarantine.oversized()
  if (large !== undefined)
    return refuseAll(commands, () => DECLINED, {
      words: `A ${large.type} has ${large.size} bytes, which is too large.`,
    })
  const [connected, forced] = await Promise.all([
    quarantine.isConnected(wanted),
    checkForce(quarantine, judged),
  ])
  return connected ? forced : refuseAll(commands, () => 'missing necessary objects')
}

async function checkForce(quarantine: Quarantine, judged: Judgement): Promise<Outcome | undefined> {
  const forced = new Map(judged)
  for (const [command, { onlyForward }] of judged) {
    const { from, to } = command
    if (onlyForward !== true || from === undefined || to === undefined) continue
    if (!(await quarantine.isAncestor(from, to).catch(() => false)))
      forced.set(command, {
        refusal: 'You are not allowed to force push code to a protected branch on this project.',
      })
  }
  return refuseSome(forced)
}

/** Lets the objects in and moves the refs: all or none where the client wants that, else each for itself. */
async function move(
  push: Push,
  quarantine: Quarantine,
  { judged, isEmpty }: { judged: Judgement; isEmpty: boolean },
): Promise<{ result: RefVerdict[]; moves: RefMove[] }> {
  const { instance, request, entry } = push
  const { commands, capabilities } = request
  const repository = instance.git.repository(entry.path)
  await quarantine.release()
  return repository.locked(
    commands.map(({ ref }) => ref),
    async () => {
      const refusal = await recheckPush(push, judged, isEmpty)
      if (refusal !== undefined) return { result: commands.map(({ ref }) => ({ ref, refusal })), moves: [] }
      // To delete what is not there changes nothing, and is no fault.
      const moves = commands.filter(({ from, to }) => from !== undefined || to !== undefined)
      const atomic = capabilities.has('atomic')
      const faults = new Map<string, string>()
      for (const batch of atomic ? [moves] : inBatches(moves)) {
        const fault = await faultOf(() => repository.moveRefs(batch))
        if (fault === undefined) continue
        for (const one of batch) {
          const own = atomic ? fault : await faultOf(() => repository.moveRefs([one]))
          if (own !== undefined) faults.set(one.ref, own)
        }
      }
      return {
        result: commands.map(({ ref }) => {
          const refusal = faults.get(ref)
          return refusal === undefined ? { ref } : { ref, refusal }
        }),
        moves: moves.filter(({ ref }) => !faults.has(ref)),
      }
    },
    String(entry.actor.id),
  )
}

/** Each ref that is moved holds an open file until all of its batch are. */
const inBatches = (moves: readonly RefMove[]): RefMove[][] =>
  Array.from({ length: Math.ceil(moves.length / BATCH) }, (_, index) =>
    moves.slice(index * BATCH, (index + 1) * BATCH),
  )

/** Why refs did not move, in git's words; undefined when they did. */
async function faultOf(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (isGitError(error, 'moved')) return OVERTAKEN
    if (isGitError(error, 'refused')) return 'failed to update ref'
    if (isGitError(error, 'busy')) return 'failed to lock'
    throw error
  }
}

/** Git's message about a refused pack, without paths of this machine. */
const saidBy = (stderr: string): string =>
  stderr
    .split('\n')
    .filter((line) => /^(error|fatal|warning): /.test(line))
    .map((line) => line.replaceAll(/(^|[\s'"])\/\S+/g, '$1…'))
    .slice(-10)
    .join('\n')
