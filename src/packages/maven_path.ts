/** A file of a Maven repository, by the package that it belongs to. */
export interface MavenFile {
  /** Group id with slashes, and artifact id. */
  readonly name: string
  /** Null for the metadata of all versions. */
  readonly version: string | null
  readonly file_name: string
}

const SEGMENT = /^[A-Za-z0-9._\-+@~]+$/
const FILE_NAME = /^[A-Za-z0-9._\-+]+$/
const VERSION = /^[\w+.-]+$/
const METADATA = 'maven-metadata.xml'
const MAX_NAME = 255

/** The same in a Maven repository of a package whose versions have metadata together. */
export const metadataOf = (name: string): MavenFile => ({ name, version: null, file_name: METADATA })

/**
 * Reads a path of a repository, or tells what of it will not do. As published, metadata belongs to a version where that is
 * a snapshot, and to all versions elsewhere.
 */
export function readMavenPath(path: string): MavenFile | 'path' | 'file_name' | 'Name' | 'Version' {
  const segments = path.split('/')
  if (segments.some((segment) => segment === '' || /^\.+$/.test(segment))) return 'path'
  const file_name = segments.at(-1) ?? ''
  const folders = segments.slice(0, -1)
  const version = folders.at(-1)
  if (version === undefined) return 'path'
  if (!FILE_NAME.test(file_name) || file_name.length > MAX_NAME) return 'file_name'
  const isMetadata = file_name.replace(/\.(?:md5|sha\d+|asc)$/, '') === METADATA
  const isOfAll = isMetadata && !version.endsWith('-SNAPSHOT')
  const name = (isOfAll ? folders : folders.slice(0, -1)).join('/')
  if (name === '' || name.length > MAX_NAME || !folders.every((one) => SEGMENT.test(one))) return 'Name'
  if (!isOfAll && (!VERSION.test(version) || version.includes('..') || version.length > MAX_NAME))
    return 'Version'
  return { name, version: isOfAll ? null : version, file_name }
}

/** A checksum that is asked for or sent beside a file, and the name of that file. */
export function checksumOf(
  file_name: string,
): { readonly kind: 'md5' | 'sha1'; readonly of: string } | undefined {
  const [, of = '', kind] = /^(.+)\.(md5|sha1)$/.exec(file_name) ?? []
  return kind === 'md5' || kind === 'sha1' ? { kind, of } : undefined
}
