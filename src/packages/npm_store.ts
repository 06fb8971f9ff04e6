import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Manifest } from './npm_manifest.ts'

/** A version of an npm package as an install reads it. */
export interface NpmVersion {
  readonly project_id: number
  readonly name: string
  readonly version: string
  readonly metadata: Manifest
  readonly file_name: string
  readonly tags: readonly { readonly name: string; readonly updated_at: string }[]
}

/** The columns of `NpmVersion`, of a package `k`. */
export const npmVersion = sql`
  k.project_id, k.name, k.version, k.metadata, f.file_name,
  coalesce((select json_agg(json_build_object('name', t.name, 'updated_at', t.updated_at))
              from package_tags t where t.package_id = k.id), '[]') as tags`
export const npmFile = sql`
  lateral (select file_name from package_files where package_id = k.id order by id desc limit 1) f`
/** Whether `k` is a version that is served, under that name. */
export const isServedNpm = (name: RawBuilder<string>): RawBuilder<boolean> => sql`
  k.package_type = 'npm' and k.canonical_name = lower(${name}) and k.name = ${name}
  and k.status in ('default', 'deprecated')`

interface Name {
  readonly project_id: number
  readonly name: string
}

const ofProject = statement(
  (p: Slots<Name>) => sql<NpmVersion>`
    select ${npmVersion} from packages k, ${npmFile}
     where k.project_id = ${p.project_id} and ${isServedNpm(p.name)} order by k.id`,
)
/** The versions of a package in one project, in the order of their publication. */
export const listVersions = (db: Db, name: Name): Promise<NpmVersion[]> => db.rows(ofProject, name)

const newest = statement(
  (p: Slots<Name>) => sql<{ id: number }>`
    select k.id from packages k
     where k.project_id = ${p.project_id} and ${isServedNpm(p.name)} order by k.id desc limit 1`,
)
export const findNewest = (db: Db, name: Name): Promise<{ readonly id: number } | undefined> =>
  db.one(newest, name)

const existing = statement(
  (p: Slots<Name & { version: string }>) => sql<{ id: number }>`
    select id from packages
     where project_id = ${p.project_id} and package_type = 'npm' and name = ${p.name}
       and coalesce(version, '') = ${p.version}`,
)
export const exists = async (db: Db, version: Name & { version: string }): Promise<boolean> =>
  (await db.one(existing, version)) !== undefined

const tag = statement(
  (p: Slots<Name & { version: string; tag: string }>) => sql`
    insert into package_tags (project_id, package_name, name, package_id)
    select k.project_id, k.name, ${p.tag}, k.id from packages k
     where k.project_id = ${p.project_id} and ${isServedNpm(p.name)} and k.version = ${p.version}
    on conflict (project_id, package_name, name) do update
       set package_id = excluded.package_id, updated_at = now()`,
)
/** Makes a tag lead to a version; false where the version is not served. */
export const setTag = async (
  db: Db,
  values: Name & { readonly version: string; readonly tag: string },
): Promise<boolean> => (await db.run(tag, values)) > 0

const untag = statement(
  (p: Slots<Name & { tag: string }>) => sql`
    delete from package_tags
     where project_id = ${p.project_id} and package_name = ${p.name} and name = ${p.tag}`,
)
export const removeTag = async (db: Db, values: Name & { readonly tag: string }): Promise<boolean> =>
  (await db.run(untag, values)) > 0

const deprecation = statement(
  (p: Slots<Name & { versions: readonly string[]; texts: readonly string[] }>) => sql`
    update packages k
       set status = case d.text when '' then 'default' else 'deprecated' end, updated_at = now(),
           metadata = (k.metadata - 'deprecated')
                      || case d.text when '' then '{}'::jsonb else jsonb_build_object('deprecated', d.text) end
      from unnest(${p.versions}::text[], ${p.texts}::text[]) as d (version, text)
     where k.project_id = ${p.project_id} and ${isServedNpm(p.name)} and k.version = d.version
       and coalesce(k.metadata->>'deprecated', '') <> d.text`,
)
/** Marks versions as deprecated, each with its text; an empty one takes the mark away. */
export const deprecate = (db: Db, name: Name, texts: ReadonlyMap<string, string>): Promise<number> =>
  db.run(deprecation, { ...name, versions: [...texts.keys()], texts: [...texts.values()] })
