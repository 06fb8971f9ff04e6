/** Placeholders of an address, as `%{name}`. */
const PLACEHOLDERS = [
  'project_path',
  'project_title',
  'project_name',
  'project_id',
  'project_namespace',
  'group_name',
  'gitlab_server',
  'gitlab_pages_domain',
  'default_branch',
  'commit_sha',
  'latest_tag',
] as const
export type Placeholder = (typeof PLACEHOLDERS)[number]
/** Values of the placeholders; a missing one is empty. */
export type Values = ReadonlyMap<Placeholder, string>

const FORM = new RegExp(`%\\{(${PLACEHOLDERS.join('|')})\\}`, 'g')

/** Which placeholders the addresses hold. */
export const placeholdersIn = (urls: readonly string[]): ReadonlySet<Placeholder> =>
  new Set(urls.flatMap((url) => [...url.matchAll(FORM)].map(([, name]) => name as Placeholder)))

// eslint-disable-next-line no-control-regex -- they are what must not get through
const UNSAFE = /[\u0000-\u0020"<>\\^`{|}\u007F-\u00A0\u2028\u2029]/gu

/**
 * The address with its placeholders filled in. What a project is called cannot make it one of another kind: where it
 * would not be an address of the web any more, it stays as it was written.
 */
export function render(url: string, values: Values | undefined): string {
  if (values === undefined) return url
  const rendered = url.replaceAll(FORM, (_, name: Placeholder) =>
    (values.get(name) ?? '').replaceAll(UNSAFE, encodeURIComponent),
  )
  return urlFault(rendered) === undefined ? rendered : url
}

export const BLOCKED = 'is blocked: Only allowed schemes are http, https'
const WEB = /^https?:\/\//i

/** Why an address, its ends trimmed, cannot be one of a badge, in the published words. */
function urlFault(url: string): string | undefined {
  if (url === '') return 'must be a valid URL'
  if (!WEB.test(url)) return BLOCKED
  const plain = url.replaceAll(FORM, 'placeholder')
  if (plain.search(UNSAFE_BUT_BRACES) !== -1 || !URL.canParse(plain)) return 'is blocked: URI is invalid'
  if (/^[^\p{L}\p{N}]/u.test(new URL(plain).username))
    return 'is blocked: Username needs to start with an alphanumeric character'
  return undefined
}

// Tokens that nobody knows stay in an address as they are.
// eslint-disable-next-line no-control-regex -- as above
const UNSAFE_BUT_BRACES = /[\u0000-\u0020"<>\\^`|\u007F-\u00A0\u2028\u2029]/u

interface Urls {
  readonly link_url?: string | undefined
  readonly image_url?: string | undefined
}

/** Why the addresses cannot be a badge's, attribute by attribute. */
export function badgeFaults(urls: Urls): Record<string, readonly string[]> {
  const faults = (['link_url', 'image_url'] as const).flatMap((name) => {
    const url = urls[name]
    const fault = url === undefined ? undefined : urlFault(url)
    return fault === undefined ? [] : [[name, [fault]] as const]
  })
  return Object.fromEntries(faults)
}
