import { rcompare } from 'semver'
import { Type as t, type Static } from 'typebox'
import type { NpmVersion } from '../../packages/npm_store.ts'

const Tags = t.Record(t.String(), t.String(), { description: 'Version by tag; `latest` is always there' })
export const NpmMetadata = t.Object({
  name: t.String(),
  versions: t.Record(t.String(), t.Unknown(), { description: 'Manifest by version' }),
  'dist-tags': Tags,
})
export { Tags as NpmTags }

/** Versions by tag: of two projects that use one tag the last to set it counts. */
export function presentTags(versions: readonly NpmVersion[]): Static<typeof Tags> {
  const set = versions.flatMap(({ version, tags }) => tags.map((tag) => ({ ...tag, version })))
  const [highest] = versions.map(({ version }) => version).toSorted(rcompare)
  return Object.fromEntries([
    ...(highest === undefined ? [] : [['latest', highest]]),
    ...set
      .toSorted((a, b) => a.updated_at.localeCompare(b.updated_at))
      .map(({ name, version }) => [name, version]),
  ]) as Static<typeof Tags>
}

/** A package as an install reads it; `url` is the server's own. The last of equal versions counts. */
export const presentMetadata = (
  name: string,
  versions: readonly NpmVersion[],
  url: string,
): Static<typeof NpmMetadata> => ({
  name,
  versions: Object.fromEntries(versions.map((one) => [one.version, presentVersion(one, url)])),
  'dist-tags': presentTags(versions),
})

function presentVersion(
  { project_id, name, version, metadata, file_name }: NpmVersion,
  url: string,
): Readonly<Record<string, unknown>> {
  const tarball = `${url}/api/v4/projects/${project_id}/packages/npm/${name}/-/${file_name}`
  return { name, version, ...metadata, dist: { ...(metadata['dist'] as object), tarball } }
}
