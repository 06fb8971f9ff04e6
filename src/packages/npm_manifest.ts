/** Parts of a published manifest that are kept, and served to those who install. */
const STORED_FIELDS = [
  'dependencies',
  'devDependencies',
  'bundleDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'optionalDependencies',
  'deprecated',
  'bin',
  'directories',
  'engines',
  'os',
  'cpu',
  'libc',
  'funding',
  '_hasShrinkwrap',
  'hasInstallScript',
] as const
/** Parts that do not count for the size of a manifest, as published. */
const UNCOUNTED = new Set(['readme', 'readmeFilename', 'licenseText', 'contributors', 'exports'])
/** Characters from which a manifest is too large. */
export const MAX_MANIFEST = 20_000

export type Manifest = Readonly<Record<string, unknown>>
/** Digests of a tarball in the forms of npm: hexadecimal SHA-1, and subresource integrity. */
export interface Dist {
  readonly shasum: string
  readonly integrity: string
}

export const isManifestTooLarge = (manifest: Manifest): boolean =>
  JSON.stringify(manifest, (key, value: unknown) => (UNCOUNTED.has(key) ? undefined : value)).length >=
  MAX_MANIFEST

/** The stored part of a version's manifest. */
export const keptManifest = (manifest: Manifest, dist: Dist): Manifest => ({
  ...Object.fromEntries(STORED_FIELDS.flatMap((key) => (key in manifest ? [[key, manifest[key]]] : []))),
  dist,
})

/** Whether the digests that a publisher sent, where it sent them, are those of the tarball. */
export function agreesWith(manifest: Manifest, dist: Dist): boolean {
  const sent = (manifest['dist'] ?? {}) as { readonly shasum?: unknown; readonly integrity?: unknown }
  const { shasum = dist.shasum, integrity = dist.integrity } = sent
  // Integrity may name several digests; of other algorithms nothing is known here.
  const isKnown = typeof integrity === 'string' && integrity.includes('sha512-')
  return shasum === dist.shasum && (!isKnown || integrity.split(/\s+/).includes(dist.integrity))
}
