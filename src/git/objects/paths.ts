/** Why no change may name a path. */
export type PathFault = 'empty_path' | 'traversal' | 'invalid_path'

const maxPathBytes = 4_096
// Code points that HFS+ leaves out when it compares names.
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu
// eslint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/

/**
 * The path in a tree that a change names, one leading slash dropped; or why no repository may hold it. Refused is
 * whatever a checkout on Linux, Windows or a Mac would write elsewhere than to that very file: `..`, and `.git` in
 * every spelling that one of their file systems takes for it.
 */
export function writablePath(path: string): { path: string } | { fault: PathFault } {
  const inner = path.startsWith('/') ? path.slice(1) : path
  if (inner === '') return { fault: 'empty_path' }
  if (inner.split(/[/\\]/).includes('..')) return { fault: 'traversal' }
  if (!inner.isWellFormed() || control.test(inner) || Buffer.byteLength(inner) > maxPathBytes) {
    return { fault: 'invalid_path' }
  }
  const isSound = inner.split('/').every((part) => part !== '' && part !== '.' && !isDotGit(part))
  return isSound ? { path: inner } : { fault: 'invalid_path' }
}

/** True for `.git` as any file system may read it; a backslash ends a name on Windows. */
function isDotGit(name: string): boolean {
  return name.split('\\').some((part) => /^(?:\.git|git~1)$/.test(folded(part)))
}

/** True for a name that some file system takes for `.gitmodules`, which must never be a symbolic link. */
export function isDotGitmodules(name: string): boolean {
  return /^(?:\.gitmodules|gitmod~\d+|gi[0-9a-f]{4}~\d+|gi7eb[0-9a-f]*~\d+)$/.test(folded(name))
}

/** A name as file systems compare it: no case, nothing ignorable, no stream (`:…`), no blanks and dots at the end. */
function folded(name: string): string {
  return (name.replaceAll(ignoredByHfs, '').split(':')[0] ?? '').replace(/[ .]+$/, '').toLowerCase()
}
