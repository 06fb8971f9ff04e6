import { violates } from '../../db/errors.ts'
import type { Repository } from '../../git/repository.ts'
import type { Instance } from '../../instance.ts'
import { giveUpAutoMerge } from './auto_merges.ts'
import { compareBranches, headOf, keepHead } from './comparing.ts'
import { noteCompared, noteTurned, stackedOn, type Landed, type OpenRequest } from './rows.ts'
import { branchGone } from '../conversation/system_note_sentences.ts'
import { writeSystemNote } from '../conversation/system_notes.ts'

// Merge requests that stand on each other's branches.

const HEADS = 'refs/heads/'
type Tools = Pick<Instance, 'db' | 'git'>

/**
 * Leads the merge requests into the source branch of one that was merged on to where that went, when the branch has gone
 * with it. To be done before the merge is noted: after a crash, whoever finishes that one does this again.
 */
export async function leadOn(
  tools: Tools,
  repository: Repository,
  merged: Landed,
  userId: number | null,
): Promise<void> {
  const { project_id, source_project_id, source_branch: from, target_branch: to } = merged
  if (source_project_id !== project_id || (await repository.ref(HEADS + from)) !== undefined) return
  for (const request of await stackedOn(tools.db, { project_id, from, to }))
    await turn(tools, repository, request, { to, userId })
}

async function turn(
  { db, git }: Tools,
  repository: Repository,
  request: OpenRequest,
  { to, userId }: { readonly to: string; readonly userId: number | null },
): Promise<void> {
  const { id, iid, target_branch: from } = request
  await repository.locked([`merge request ${id}`], async () => {
    const head = await headOf(git, request)
    const compared = head && (await compareBranches(repository, { head, target_branch: to }))
    if (!compared) return
    await keepHead(repository, iid, compared.head_sha)
    const turning = db.transaction(async (tx) => {
      if (!(await noteTurned(tx, id, { from, to }))) return
      await noteCompared(tx, id, compared)
      await giveUpAutoMerge(tx, { id, user_id: userId }, 'target')
      const body = branchGone(from, to)
      await writeSystemNote(tx, { noteable_id: id, author_id: userId, action: 'branch', body })
    })
    await turning.catch((error: unknown) => {
      // Another one that brings the same branch there came meanwhile: this one is left where it was.
      if (!violates(error, 'merge_requests_open_key')) throw error
    })
  })
}
