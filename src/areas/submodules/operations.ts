import { Type as t } from 'typebox'
import { MAX_MESSAGE_BYTES } from '../../git/objects/commit.ts'
import { filledRepository } from '../../access/gates/code_gates.ts'
import { developer, project, repository, signedIn } from '../../access/gates/gates.ts'
import { committed, pushRight } from '../../access/gates/push_gates.ts'
import { CommitDetail } from '../../records/repositories/commit.ts'
import { messageOr } from '../../core/repositories/commit_messages.ts'
import { CommitRefused, moveBranch, signatureOf } from '../../core/pushes/commit_writing.ts'
import { presentFreshDetail } from '../../records/repositories/fresh_commit.ts'
import { isRefName, isSha } from '../../git/names.ts'
import type { Repository } from '../../git/repository.ts'
import { operation } from '../../http/operation.ts'
import { refused } from '../../http/problems.ts'

const INVALID_PATH = 'Invalid submodule path'

export const updateSubmodule = operation({
  method: 'PUT',
  path: '/projects/:id/repository/submodules/:submodule',
  summary: 'Update a submodule to another commit',
  moves: 'refs',
  first: [signedIn],
  params: t.Object({
    submodule: t.String({ description: 'The URL-encoded full path of the submodule' }),
    branch: t.String({ description: 'The branch to commit into' }),
    commit_sha: t.String({ description: 'The full hash to move the submodule to' }),
    commit_message: t.Optional(t.String({ maxBytes: MAX_MESSAGE_BYTES })),
  }),
  gates: [project, repository, developer, filledRepository],
  handle: async (ctx) => {
    const { repository, params } = ctx
    const { branch, submodule: path } = params
    const sha = params.commit_sha.toLowerCase()
    if (!(await pushRight(ctx, branch)).pushes) throw refused('You are not allowed to push into this branch')
    const committer = signatureOf(ctx.actor, ctx.now)
    const work = async (tip: string | undefined): Promise<string> => {
      const base = await checkedBase(repository, tip)
      await checkPointer(repository, base, path, sha)
      const written = await repository.writeChanges(base, [{ action: 'link', path, sha }], {
        parents: [base],
        author: committer,
        committer,
        message: messageOr(params.commit_message, `Update submodule ${path} with oid ${sha}`),
      })
      return written.commit
    }
    const moved = isRefName(branch) ? moveBranch(ctx, branch, false, work) : work(undefined)
    return presentFreshDetail(ctx, await committed(moved), false)
  },
  returns: CommitDetail,
  refuses: [refused(INVALID_PATH)],
})

async function checkedBase(repository: Repository, tip: string | undefined): Promise<string> {
  if (tip !== undefined) return tip
  if (await repository.isEmpty()) throw new CommitRefused('The repository is empty')
  throw new CommitRefused('You can only create or edit files when you are on a branch')
}

async function checkPointer(repository: Repository, base: string, path: string, sha: string): Promise<void> {
  if (!isSha(sha)) throw new CommitRefused('Invalid parameters')
  const entry = await repository.entry(base, path)
  if (entry?.type !== 'commit' || entry.path !== path) throw new CommitRefused(INVALID_PATH)
  if (entry.id === sha) throw new CommitRefused(`The submodule ${path} is already at ${sha}`)
}
