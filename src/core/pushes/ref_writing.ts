import type { RefMove } from '../../git/refs/refs.ts'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import { movingRefs } from './pushes.ts'

/** Parts that moving refs needs: the context of an operation with a repository. */
interface Writing extends Pick<Instance, 'db' | 'git' | 'settings' | 'pendingRefUpdates'> {
  readonly actor?: { readonly id: number } | null
  readonly project: { readonly id: number }
  readonly repository: Repository
  readonly stillMatches: () => Promise<void>
}

/**
 * Moves refs that nobody else can move meanwhile: `work` gets what they hold and says where they go. The moves that were
 * made. Throws what `work` throws, and GitError `moved` or `refused` like `moveRefs`.
 */
export function moveNamed(
  writing: Writing,
  refs: readonly string[],
  work: (held: ReadonlyMap<string, string | undefined>) => Promise<readonly RefMove[]>,
): Promise<readonly RefMove[]> {
  const { repository, project } = writing
  return movingRefs(writing, project, false, () =>
    repository.locked(refs, async () => {
      await writing.stillMatches()
      const ids = await Promise.all(refs.map((ref) => repository.ref(ref)))
      const moves = await work(new Map(refs.map((ref, i) => [ref, ids[i]])))
      if (moves.length > 0) await repository.moveRefs(moves)
      return { result: moves, moves }
    }),
  )
}
