import { hasFeature } from '../../core/places/project_features.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Snippet } from '../../db/schema/planning.ts'
import { allows, type Actor, type Gate, type Has } from '../../http/gate.ts'
import { forbidden } from '../../http/problems.ts'

/**
 * The right to see the project gives the right to see its snippets, each by its own visibility, where snippets are
 * enabled.
 */
export const readsSnippets = allows({
  says: 'a project with snippets enabled',
  refuses: forbidden,
  holds: ({ actor, project }: Has<{ project: Project }>) => hasFeature(actor, project, 'snippets'),
})

export const changesSnippet: Gate<'allows', never, { project: Project; snippet: Snippet }, { actor: Actor }> =
  {
    kind: 'allows',
    says: 'the author, or at least Maintainer in the project',
    refuses: forbidden,
    pass: ({ actor, project, snippet }) =>
      actor !== null && (actor.admin || project.role >= ROLES.maintainer || snippet.author_id === actor.id)
        ? { actor }
        : undefined,
  }
