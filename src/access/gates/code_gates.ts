import { Type as t } from 'typebox'
import { seesPipelines } from '../../core/places/project_features.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Commit } from '../../git/objects/commit.ts'
import type { Repository } from '../../git/repository.ts'
import { allows, loads, type Actor, type Allows, type Gate, type Has } from '../../http/gate.ts'
import { forbidden, notFound } from '../../http/problems.ts'
import { project, readsCode, repository, signedIn } from './gates.ts'

/** Every path below a repository begins so, before its parameters are read, as published. */
export const code = [project, repository, readsCode] as const

/** A fork or an import has no repository until it is filled. */
export const filledRepository: Gate<'checks', never, { repository: Repository }, object> = {
  kind: 'checks',
  says: 'a repository whose import has finished',
  refuses: () => notFound('Repository'),
  pass: async ({ repository }) => ((await repository.exists()) ? {} : undefined),
}

/** Pipelines and what they say of commits: where builds are switched on for the caller, and jobs public or the caller a Reporter. */
export const readsPipelines = allows({
  says: 'the right to read pipelines of the project',
  refuses: forbidden,
  holds: ({ actor, project }: Has<{ project: Project }>) => seesPipelines(actor, project),
})

/** A commit of the repository. */
export const commit = loads({
  param: 'sha',
  type: t.String({ description: 'A hash, a branch or a tag' }),
  as: 'commit',
  says: 'a commit of the repository',
  missing: () => notFound('Commit'),
  find: async ({ repository }: Has<{ repository: Repository }>, rev): Promise<Commit | undefined> => {
    const sha = await repository.resolve(rev)
    return sha === undefined ? undefined : repository.commit(sha)
  },
})

/** A token is needed, and that is asked after the project: to whoever has none, a private one stays hidden. */
export const signedInHere: Allows<object, { actor: Actor }> = { ...signedIn }
