import { Draft, type Drafted, type Parts, type Place } from './draft.ts'
import { isSha } from '../names.ts'
import { isSafeGitmodules } from './gitmodules.ts'
import { isDotGitmodules, writablePath, type PathFault } from './paths.ts'
import { directoryMode, keyOf, linkMode, symlinkMode, textOf, type TreeLine } from './tree_lines.ts'
import { createYield } from '../event_loop.ts'

/** One change of a tree. Paths are slash-separated; one leading slash is dropped. */
export type Change =
  | {
      readonly action: 'create'
      readonly path: string
      readonly content: Buffer
      readonly executable?: boolean
    }
  | { readonly action: 'update'; readonly path: string; readonly content: Buffer }
  | { readonly action: 'move'; readonly path: string; readonly from: string; readonly content?: Buffer }
  | { readonly action: 'delete'; readonly path: string }
  | { readonly action: 'chmod'; readonly path: string; readonly executable: boolean }
  /** Sets a submodule's commit; the path may be new or a submodule already. */
  | { readonly action: 'link'; readonly path: string; readonly sha: string }

/**
 * Why a change cannot be made: a file is in the way, none is there, or the path is empty, leads upwards or is one that
 * no repository may hold, or the file is a `.gitmodules` that no push may bring.
 */
export type ChangeFault = PathFault | 'exists' | 'missing' | 'gitmodules'

/** The first change that cannot be made, and its place in the list; `path` as the caller gave it. */
export class ChangeRefused extends Error {
  override readonly name = 'ChangeRefused'
  readonly reason: ChangeFault
  readonly path: string
  readonly index: number

  constructor(reason: ChangeFault, path: string, index: number) {
    super(`Change ${index} is refused: ${reason}`)
    this.reason = reason
    this.path = path
    this.index = index
  }
}

interface Step {
  readonly change: Change
  readonly path: Parts
  /** The source of a move. */
  readonly from: Parts | undefined
}

/**
 * Makes `changes` one after the other on the tree `base` (undefined: the empty tree) without writing anything. Throws
 * ChangeRefused for the first that cannot be made; all paths are judged before anything is read.
 */
export async function applyChanges(
  base: string | undefined,
  changes: readonly Change[],
  read: (tree: string) => Promise<readonly TreeLine[]>,
): Promise<Drafted> {
  const rest = createYield()
  const steps: Step[] = []
  for (const [index, change] of changes.entries()) {
    steps.push(stepOf(change, index))
    await rest()
  }
  const draft = await Draft.from(base, read)
  if (steps.length > 1)
    await draft.preload(steps.flatMap(({ path, from }) => [path, ...(from ? [from] : [])]))
  for (const [index, step] of steps.entries()) {
    const fault = await apply(draft, step)
    if (fault !== undefined) throw new ChangeRefused(fault, step.change.path, index)
    await rest()
  }
  return draft.finish()
}

function stepOf(change: Change, index: number): Step {
  const parts = (path: string): Parts => {
    const found = writablePath(path)
    if ('fault' in found) throw new ChangeRefused(found.fault, path, index)
    return found.path.split('/').map(keyOf)
  }
  if (change.action === 'link' && !isSha(change.sha)) throw new TypeError('A submodule is at a full hash')
  const path = parts(change.path)
  const fault = gitmodulesFault(change, path)
  if (fault !== undefined) throw new ChangeRefused(fault, change.path, index)
  return { change, path, from: change.action === 'move' ? parts(change.from) : undefined }
}

const isGitmodules = (name: string | undefined): boolean => isDotGitmodules(textOf(name ?? ''))

/** Refused by the check of pushes too: `.gitmodules` that is no file, or makes a client run unexpected commands. */
function gitmodulesFault(change: Change, path: Parts): ChangeFault | undefined {
  if (change.action === 'delete') return undefined
  if (path.slice(0, -1).some((part) => isGitmodules(part))) return 'invalid_path'
  if (!isGitmodules(path.at(-1))) return undefined
  if (change.action === 'link') return 'invalid_path'
  if (change.action === 'chmod') return undefined
  if (change.content !== undefined) return isSafeGitmodules(change.content) ? undefined : 'gitmodules'
  // A file moved from another name was never checked.
  return change.action === 'move' && !isDotGitmodules(change.from.split('/').at(-1) ?? '')
    ? 'invalid_path'
    : undefined
}

async function apply(draft: Draft, { change, path, from }: Step): Promise<ChangeFault | undefined> {
  switch (change.action) {
    case 'create': {
      const place = await draft.reach(path)
      if (place === undefined || isTaken(place)) return 'exists'
      draft.put(place, change.executable === true ? '100755' : '100644', await draft.content(change.content))
      return undefined
    }
    case 'move':
      return move(draft, path, from ?? [], change.content)
    case 'link': {
      const place = await draft.reach(path)
      if (place === undefined || fileIn(place) !== undefined) return 'exists'
      draft.put(place, linkMode, change.sha)
      return undefined
    }
    default:
      return edit(draft, change, await draft.find(path))
  }
}

async function edit(
  draft: Draft,
  change: Extract<Change, { action: 'update' | 'delete' | 'chmod' }>,
  place: Place | undefined,
): Promise<ChangeFault | undefined> {
  const file = place && fileIn(place)
  if (place === undefined) return 'missing'
  // A submodule's pointer can be taken away, and there is nothing in it to edit.
  if (change.action === 'delete' && isTaken(place)) draft.remove(place)
  else if (file === undefined || change.action === 'delete') return 'missing'
  else if (change.action === 'update')
    draft.put(place, file.mode, await draft.content(change.content, file.id))
  else if (file.mode === symlinkMode) return 'missing'
  else draft.put(place, modeAfter(file.mode, change.executable), file.id)
  return undefined
}

function modeAfter(mode: string, executable: boolean): string {
  if (executable) return '100755'
  return mode === '100755' ? '100644' : mode
}

async function move(
  draft: Draft,
  path: Parts,
  from: Parts,
  content: Buffer | undefined,
): Promise<ChangeFault | undefined> {
  const target = await draft.find(path)
  if (target !== undefined && isTaken(target)) return 'exists'
  const source = await draft.find(from)
  const file = source && fileIn(source)
  if (source === undefined || file === undefined) return 'missing'
  if (file.mode === symlinkMode && isDotGitmodules(textOf(path.at(-1) ?? ''))) return 'invalid_path'
  draft.remove(source)
  // Only now: `a` may move to `a/b`, whose directory has the name that `a` leaves.
  const place = await draft.reach(path)
  if (place === undefined) return 'exists'
  draft.put(place, file.mode, content === undefined ? file.id : await draft.content(content, file.id))
  return undefined
}

/** True when a place holds anything but a directory, which makes way for a file of its name. */
function isTaken({ node }: Place): boolean {
  return node !== undefined && !('children' in node) && node.mode !== directoryMode
}

/** The file or symbolic link in a place. */
function fileIn(place: Place): TreeLine | undefined {
  const { node } = place
  return node !== undefined && isTaken(place) && !('children' in node) && node.mode !== linkMode
    ? node
    : undefined
}
