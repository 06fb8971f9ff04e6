import type { Instance } from '../../instance.ts'
import { enqueueOfPush } from '../../jobs/job.ts'
import { commitJobs } from './commit_references.ts'
import { pipelineJobs } from './pipeline_requests.ts'
import type { UndeliveredPush } from './undelivered_pushes.ts'

/** Asks, once for each push, for all that follows from it: pipelines, and what its commits say of issues. */
export async function tellOfPush(tools: Pick<Instance, 'db' | 'git'>, push: UndeliveredPush): Promise<void> {
  const { push_id, moves } = push
  const jobs = [...(await pipelineJobs(tools, push, moves)), ...(await commitJobs(tools, push, moves))]
  await enqueueOfPush(tools.db, push_id, jobs)
}
