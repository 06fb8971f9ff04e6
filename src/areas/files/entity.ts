import { Type as t, type Static } from 'typebox'

const known = {
  file_name: t.String(),
  file_path: t.String(),
  size: t.Integer(),
  encoding: t.String(),
  content_sha256: t.String(),
  ref: t.String(),
  blob_id: t.String(),
  commit_id: t.String(),
  last_commit_id: t.String(),
  execute_filemode: t.Boolean(),
}

/** All there is to tell of a file beside its content. */
export const FileFacts = t.Object(known)
export const File = t.Object({ ...known, content: t.String() })

/** The response of a write. */
export const Written = t.Object({ file_path: t.String(), branch: t.String() })

/** The facts as the published headers: `X-Gitlab-Blob-Id` and the others. */
export const headersOf = (facts: Static<typeof FileFacts>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      `x-gitlab-${name.replaceAll('_', '-')}`,
      headerText(String(value)),
    ]),
  )

/** A header holds printable ASCII; a name with anything else is percent-encoded as a whole. */
const headerText = (text: string): string => (/^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text))
