import { mayReadCode } from '../../access/gates/gates.ts'
import { repositoryPath, type Project } from '../../core/places/projects.ts'
import type { Badge } from '../../db/schema/badges.ts'
import type { Context } from '../../http/gate.ts'
import { placeholdersIn, type Placeholder, type Values } from './rules.ts'
import { firstProject, topLevelName } from './store.ts'

export type Urls = Pick<Badge, 'link_url' | 'image_url'>

/**
 * Values of the placeholders of some badges for a project at this moment: each is looked up once, and only if it
 * occurs.
 */
export function valuesInProject(ctx: Context, project: Project, badges: readonly Urls[]): Promise<Values> {
  return valuesOf(ctx, project, placeholdersOf(badges))
}

/** The same in a group, whose badges show its first project; undefined where the caller sees none. */
export async function valuesInGroup(
  ctx: Context,
  group: { readonly id: number },
  badges: readonly Urls[],
): Promise<Values | undefined> {
  const wanted = placeholdersOf(badges)
  if (wanted.size === 0) return new Map()
  const project = await firstProject(ctx.db, ctx.actor, group.id)
  return project && valuesOf(ctx, project, wanted)
}

const placeholdersOf = (badges: readonly Urls[]): ReadonlySet<Placeholder> =>
  placeholdersIn(badges.flatMap(({ link_url, image_url }) => [link_url, image_url]))

async function valuesOf(ctx: Context, project: Project, wanted: ReadonlySet<Placeholder>): Promise<Values> {
  const { db, config } = ctx
  const lookUp: Readonly<Record<Placeholder, () => Promise<string | undefined> | string | undefined>> = {
    project_path: () => project.full_path,
    project_title: () => project.name,
    project_name: () => project.path,
    project_id: () => String(project.id),
    project_namespace: () => project.full_path.slice(0, -project.path.length - 1),
    group_name: () => topLevelName(db, project.traversal_ids),
    gitlab_server: () => config.hostname,
    gitlab_pages_domain: () => config.pagesDomain,
    default_branch: () => (showsCode(ctx, project) ? (project.default_branch ?? undefined) : undefined),
    commit_sha: () => head(ctx, project),
    latest_tag: () => latestTag(ctx, project),
  }
  const values = new Map<Placeholder, string>()
  for (const name of wanted) {
    const value = await lookUp[name]()
    if (value !== undefined) values.set(name, value)
  }
  return values
}

/** Without the right to read code, placeholders of commits and tags stay empty. */
const showsCode = ({ actor }: Context, project: Project): boolean => mayReadCode(actor, project)

async function head(ctx: Context, project: Project): Promise<string | undefined> {
  if (project.default_branch === null || !showsCode(ctx, project)) return undefined
  const repository = ctx.git.repository(repositoryPath(project.id))
  return repository.ref(`refs/heads/${project.default_branch}`)
}

const TAGS = 'refs/tags/'
async function latestTag(ctx: Context, project: Project): Promise<string | undefined> {
  const repository = ctx.git.repository(repositoryPath(project.id))
  if (!showsCode(ctx, project) || !(await repository.exists())) return undefined
  const tags = await repository.sortedRefs(TAGS, { by: 'updated' })
  return tags.at(-1)?.name.slice(TAGS.length)
}
