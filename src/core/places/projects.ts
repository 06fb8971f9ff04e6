import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Namespace, Project as ProjectRow } from '../../db/schema/tables.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import { recordProjects } from './place_events.ts'
import { holdNamespace } from './groups.ts'
import type { Instance } from '../../instance.ts'

/** A project with its place and with what the caller holds on it. */
export type Project = ProjectRow & {
  /** 0 when the caller holds nothing, or was denied. */
  readonly role: number
  /** The namespace's ids from the root down. */
  readonly traversal_ids: number[]
}

export interface NewProject {
  readonly id: number
  readonly namespace: Pick<Namespace, 'id' | 'full_path'>
  readonly creator_id: number | null
  readonly name: string
  readonly path: string
  readonly visibility: Visibility
  readonly default_branch: string | null
  readonly description?: string | null
  readonly topics?: readonly string[]
  readonly settings?: Readonly<Record<string, unknown>>
  readonly repository_access_level?: ProjectRow['repository_access_level']
  readonly forked_from_project_id?: number | null
  /** Whether it has no branch yet. */
  readonly empty_repo?: boolean
  readonly readme_path?: string | null
}

const nextId = statement(
  () => sql<{ id: number }>`select nextval(pg_get_serial_sequence('projects', 'id'))::bigint as id`,
)
interface Inserted extends Omit<Required<NewProject>, 'namespace' | 'settings'> {
  readonly namespace_id: number
  readonly full_path: string
  readonly settings: string
}
const insertProject = statement(
  (p: Slots<Inserted>) =>
    sql<ProjectRow>`
      insert into projects (id, namespace_id, creator_id, name, path, full_path, visibility, default_branch, description,
                            topics, settings, repository_access_level, forked_from_project_id, empty_repo, readme_path)
      overriding system value
      values (${p.id}, ${p.namespace_id}, ${p.creator_id}, ${p.name}, ${p.path}, ${p.full_path}, ${p.visibility},
              ${p.default_branch}, ${p.description}, ${p.topics}, ${p.settings}, ${p.repository_access_level},
              ${p.forked_from_project_id}, ${p.empty_repo}, ${p.readme_path})
      returning *`,
)
const byId = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('projects').selectAll().where('id', '=', p.id),
)
const byFullPath = statement((p: Slots<{ full_path: string }>) =>
  q
    .selectFrom('projects')
    .selectAll()
    .where(sql`lower(full_path)`, '=', sql`lower(${p.full_path})`),
)

/**
 * An id that no project has or will have: its repository is made before its row. Ids whose folder is there are skipped: a
 * database restored from before a project was made does not know of its repository, which belongs to nobody else.
 */
export async function takeId({ db, git }: Pick<Instance, 'db' | 'git'>): Promise<number> {
  for (;;) {
    const { id } = await db.insert(nextId, {})
    if (!(await git.repository(repositoryPath(id)).exists())) return id
  }
}

/**
 * Inserts a project. Call inside a transaction. A path that is taken violates `routes_pkey` or
 * `projects_full_path_key`, a name that another project of the namespace bears `projects_name_key`.
 */
export async function create(db: Db, { namespace, ...project }: NewProject): Promise<ProjectRow> {
  // Held, so that the address is right even where the namespace is being renamed or moved.
  const home = (await holdNamespace(db, namespace.id)) ?? namespace
  const row = await db.insert(insertProject, {
    description: null,
    topics: [],
    repository_access_level: 'enabled',
    forked_from_project_id: null,
    empty_repo: true,
    readme_path: null,
    ...project,
    settings: JSON.stringify(project.settings ?? {}),
    namespace_id: namespace.id,
    full_path: `${home.full_path}/${project.path}`,
  })
  await recordProjects(db, 'create', [row], project.creator_id)
  return row
}

/** By id (`'12'`) or by full path (`'group/project'`), whoever asks. */
export function findByRef(db: Db, ref: string): Promise<ProjectRow | undefined> {
  if (/^\d{1,15}$/.test(ref)) return db.one(byId, { id: Number(ref) })
  return db.one(byFullPath, { full_path: ref })
}

const byAlias = statement((p: Slots<{ name: string }>) =>
  q.selectFrom('project_aliases').select('project_id').where('name', '=', p.name),
)

/** The id of the project that bears the alias, whoever asks. */
export const findIdByAlias = async (db: Db, name: string): Promise<number | undefined> =>
  (await db.one(byAlias, { name }))?.project_id

/** Where a project's repository lies below the repositories' root: by id, so that no rename moves it. */
export const repositoryPath = (projectId: number): string =>
  `${(projectId % 256).toString(16).padStart(2, '0')}/${projectId}.git`
