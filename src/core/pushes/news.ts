import type { RefMove } from '../../git/refs/refs.ts'
import type { Instance } from '../../instance.ts'
import { enqueueCommitMessages } from './commit_references.ts'
import { askForPipelines } from './pipeline_requests.ts'

/** Asks for all that follows from a push: pipelines, and what its commits say of issues. */
export async function tellOfPush(
  tools: Pick<Instance, 'db' | 'git'>,
  by: {
    readonly project_id: number
    readonly user_id: number
    readonly options?: readonly string[]
  },
  moves: readonly RefMove[],
): Promise<void> {
  await askForPipelines(tools, by, moves)
  await enqueueCommitMessages(tools, by, moves)
}
