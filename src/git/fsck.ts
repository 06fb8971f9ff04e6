/**
 * Faults of form that old tools left in real histories. They make no object mean something else to anybody. What
 * could (`.git` in trees, unsorted or double entries, `.gitmodules` tricks, missing hashes) stays an error.
 */
const harmless = [
  'badDate',
  'badDateOverflow',
  'badEmail',
  'badFilemode',
  'badName',
  'badTagName',
  'badTimezone',
  'missingEmail',
  'missingNameBeforeEmail',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'missingTaggerEntry',
  'multipleAuthors',
  'nulInCommit',
  'zeroPaddedDate',
  'zeroPaddedFilemode',
]

/** The settings, as `key=value`, by which git checks every object it is given through `section` (`fetch` or `receive`). */
export function fsckSettings(section: 'fetch' | 'receive'): string[] {
  return [`${section}.fsckObjects=true`, ...harmless.map((fault) => `${section}.fsck.${fault}=ignore`)]
}

/** The option by which programs that take a pack apart check its objects in the same way. */
export const fsckOption = `--strict=${harmless.map((fault) => `${fault}=ignore`).join(',')}`
