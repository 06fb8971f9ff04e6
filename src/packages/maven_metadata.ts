import { sql } from 'kysely'
import { statement, type Slots } from '../db/statement.ts'
import type { Job } from '../jobs/job.ts'
import { metadataOf } from './maven_path.ts'

interface Name {
  readonly project_id: number
  readonly name: string
}

const remaining = statement(
  (p: Slots<Name>) => sql<{ version: string }>`
    select version from packages
     where project_id = ${p.project_id} and package_type = 'maven' and name = ${p.name} and version is not null
     order by id`,
)
const stored = statement(
  (p: Slots<Name>) => sql<{ id: number }>`
    select id from packages
     where project_id = ${p.project_id} and package_type = 'maven' and name = ${p.name} and version is null`,
)
const removal = statement((p: Slots<{ id: number }>) => sql`delete from packages where id = ${p.id}`)
const rewriting = statement(
  (
    p: Slots<{ id: number; file_name: string; size: number; md5: string; sha1: string; sha256: string }>,
  ) => sql`
    insert into package_files (package_id, project_id, file_name, size, file_md5, file_sha1, file_sha256)
    select id, project_id, ${p.file_name}, ${p.size}, ${p.md5}, ${p.sha1}, ${p.sha256}
      from packages where id = ${p.id}`,
)

/**
 * Rewrites the metadata that a client stored for all versions of a package, after one was deleted; removes it with the
 * last version. A package without stored metadata gets none.
 */
export const rewriteMavenMetadata: Job<Name> = {
  name: 'rewrite_maven_metadata',
  run: async ({ db, blobs }, { project_id, name }) => {
    const key = { project_id, name }
    const metadata = await db.one(stored, key)
    if (metadata === undefined) return
    const versions = (await db.rows(remaining, key)).map(({ version }) => version)
    if (versions.length === 0) return void (await db.run(removal, { id: metadata.id }))
    const bytes = Buffer.from(metadataText(name, versions, new Date()))
    const { md5, sha1, sha256, size } = await blobs.write(once(bytes), { limit: bytes.length })
    await db.run(rewriting, {
      id: metadata.id,
      file_name: metadataOf(name).file_name,
      size,
      md5,
      sha1,
      sha256,
    })
  },
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Names and versions are of an alphabet that needs no escapes. */
function metadataText(name: string, versions: readonly string[], now: Date): string {
  const release = versions.findLast((version) => !version.endsWith('-SNAPSHOT'))
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<metadata>',
    `  <groupId>${name.split('/').slice(0, -1).join('.')}</groupId>`,
    `  <artifactId>${name.split('/').at(-1) ?? ''}</artifactId>`,
    '  <versioning>',
    `    <latest>${versions.at(-1) ?? ''}</latest>`,
    ...(release === undefined ? [] : [`    <release>${release}</release>`]),
    '    <versions>',
    ...versions.map((version) => `      <version>${version}</version>`),
    '    </versions>',
    `    <lastUpdated>${now.toISOString().replaceAll(/\D/g, '').slice(0, 14)}</lastUpdated>`,
    '  </versioning>',
    '</metadata>',
  ]
  return `${lines.join('\n')}\n`
}
