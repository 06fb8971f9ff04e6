import { Type as t, type Static } from 'typebox'
import type { Package as PackageRow, PackageFile as FileRow } from '../../db/schema/packages.ts'
import { nullable, timestamp } from '../../http/params/schema.ts'

export const PackageFile = t.Object({
  id: t.Integer(),
  package_id: t.Integer(),
  created_at: timestamp(),
  file_name: t.String(),
  size: t.Integer(),
  file_md5: nullable(t.String()),
  file_sha1: nullable(t.String()),
  file_sha256: nullable(t.String()),
})

export const presentFile = (row: FileRow): Static<typeof PackageFile> => ({
  id: row.id,
  package_id: row.package_id,
  created_at: row.created_at.toISOString(),
  file_name: row.file_name,
  size: row.size,
  file_md5: row.file_md5,
  file_sha1: row.file_sha1,
  file_sha256: row.file_sha256,
})

const Tag = t.Object({
  name: t.String(),
  package_id: t.Integer(),
  created_at: timestamp(),
  updated_at: timestamp(),
})
const Version = t.Object({
  id: t.Integer(),
  version: nullable(t.String()),
  created_at: timestamp(),
  tags: t.Array(Tag),
})

export const Package = t.Object({
  id: t.Integer(),
  name: t.String(),
  version: nullable(t.String()),
  package_type: t.String(),
  status: t.String(),
  _links: t.Object({ web_path: t.String(), delete_api_path: t.Optional(t.String()) }),
  created_at: timestamp(),
  last_downloaded_at: nullable(timestamp()),
  project_id: t.Optional(t.Integer()),
  project_path: t.Optional(t.String()),
  tags: t.Array(Tag),
  versions: t.Optional(t.Array(Version)),
})

type TagRow = Static<typeof Tag>
export type ListedPackage = PackageRow & { readonly tags: readonly TagRow[]; readonly project_path: string }
export type VersionRow = Pick<ListedPackage, 'id' | 'version' | 'created_at' | 'tags'>

const presentTags = (tags: readonly TagRow[]): TagRow[] =>
  tags.map(({ name, package_id, created_at, updated_at }) => ({
    name,
    package_id,
    created_at: new Date(created_at).toISOString(),
    updated_at: new Date(updated_at).toISOString(),
  }))

/** A package; `deletable` adds the address by which the caller may delete it. */
export const presentPackage = (
  row: ListedPackage,
  { url, deletable }: { readonly url: string; readonly deletable: boolean },
): Static<typeof Package> => ({
  id: row.id,
  name: row.name,
  version: row.version,
  package_type: row.package_type,
  status: row.status,
  _links: {
    web_path: `/${row.project_path}/-/packages/${row.id}`,
    ...(deletable && { delete_api_path: `${url}/api/v4/projects/${row.project_id}/packages/${row.id}` }),
  },
  created_at: row.created_at.toISOString(),
  last_downloaded_at: row.last_downloaded_at?.toISOString() ?? null,
  tags: presentTags(row.tags),
})

export const presentVersion = ({ id, version, created_at, tags }: VersionRow): Static<typeof Version> => ({
  id,
  version,
  created_at: created_at.toISOString(),
  tags: presentTags(tags),
})
