import { LRUCache } from 'lru-cache'
import type { ObjectAnswer, ObjectQuestion } from './processes/cat_file.ts'
import { PendingSyncs } from './durable.ts'
import { Janitor } from './care/janitor.ts'
import { Locks } from './refs/locks.ts'
import { Merges, type MergeParts } from './objects/merge.ts'
import type { PackedRefsReader } from './refs/packed_refs.ts'
import { lruBound } from './lru_bound.ts'
import type { Pool } from './processes/pool.ts'
import { PushTurns } from './refs/push_turns.ts'
import { RefReader } from './refs/ref_reader.ts'
import type { RoomFolder } from './care/room_folder.ts'
import { TreeReader } from './objects/tree.ts'
import { UnderWay } from './objects/under_way.ts'

/** Parts of the writing side of a room; one for all its repositories. */
export interface Writing {
  readonly objects: Pool<ObjectQuestion, ObjectAnswer | undefined>
  readonly trees: TreeReader
  readonly packed: PackedRefsReader
  readonly refs: RefReader
  readonly locks: Locks
  readonly underWay: UnderWay
  readonly pending: PendingSyncs
  readonly turns: PushTurns
  readonly merges: Merges
  readonly folder: RoomFolder
  readonly janitor: Janitor
  /** How often refs of a repository have moved since it was last looked after. */
  readonly moves: LRUCache<string, number>
  /** Told after refs have moved, with the repository's path below the root. */
  readonly touched: (path: string) => void
}

const lockWaitMs = 60_000
const countedRepositories = 10_000
const movesBetweenLooks = 100

/** Makes the writing side of a room. */
export function openWriting(
  parts: Omit<MergeParts, 'trees'> & Pick<Writing, 'objects' | 'packed' | 'touched'> & { root: string },
): Writing {
  const { objects, packed, folder, touched } = parts
  const trees = new TreeReader(objects)
  return {
    objects,
    trees,
    packed,
    refs: new RefReader(packed),
    locks: new Locks(lockWaitMs),
    underWay: new UnderWay(),
    pending: new PendingSyncs(),
    turns: new PushTurns(),
    merges: new Merges({ ...parts, trees }),
    folder,
    janitor: new Janitor(parts.root, folder),
    moves: new LRUCache(lruBound(countedRepositories)),
    touched,
  }
}

/** True once after each hundred movements of a repository's refs: then `maintain` is worth a look. */
export function isDue({ moves }: Writing, path: string): boolean {
  if ((moves.get(path) ?? 0) < movesBetweenLooks) return false
  moves.delete(path)
  return true
}
