import { repositoryPath, type Project } from '../../core/places/projects.ts'
import type { Gate } from '../../http/gate.ts'
import { invalid } from '../../http/problems.ts'

interface Wanted {
  readonly project: Project
  readonly params: { readonly sha: string; readonly ref: string }
}

/** The full hash of the commit that a deployment is told of. Git is read before there is a transaction. */
export const deployedCommit: Gate<'checks', never, Wanted, { sha: string }> = {
  kind: 'checks',
  says: 'a commit of the project, and a branch or tag',
  refuses: () => invalid({ sha: ['The commit does not exist'] }),
  pass: async ({ git, project, params }) => {
    const repository = git.repository(repositoryPath(project.id))
    const isThere = await repository.exists()
    const sha = isThere ? await repository.resolve(params.sha) : undefined
    const commit = sha === undefined ? undefined : await repository.commit(sha)
    const refs = isThere
      ? [await repository.ref(`refs/heads/${params.ref}`), await repository.ref(`refs/tags/${params.ref}`)]
      : []
    const hasRef = refs.some((tip) => tip !== undefined)
    if (commit !== undefined && sha !== undefined && hasRef) return { sha }
    throw invalid({
      ...(commit === undefined && { sha: ['The commit does not exist'] }),
      ...(!hasRef && { ref: ['The branch or tag does not exist'] }),
    })
  },
}
