import { Type as t, type Static } from 'typebox'
import type { Commit } from '../../git/objects/commit.ts'
import type { FilePatch, Patch } from '../../git/objects/patch.ts'
import type { Repository } from '../../git/repository.ts'

/** The diff of one file. */
export const Diff = t.Object({
  diff: t.String(),
  collapsed: t.Boolean(),
  too_large: t.Boolean(),
  new_path: t.String(),
  old_path: t.String(),
  a_mode: t.String(),
  b_mode: t.String(),
  new_file: t.Boolean(),
  renamed_file: t.Boolean(),
  deleted_file: t.Boolean(),
  generated_file: t.Boolean(),
})

/** A file's diff as the interface shows it; `unified` puts the two lines before the hunks that other tools want. */
export const presentPatch = (file: FilePatch, unified: boolean): Static<typeof Diff> => ({
  diff: unified && file.diff.startsWith('@@') ? `${namesOf(file)}${file.diff}` : file.diff,
  collapsed: false,
  too_large: file.tooLarge,
  new_path: file.newPath,
  old_path: file.oldPath,
  a_mode: file.oldMode,
  b_mode: file.newMode,
  new_file: file.newFile,
  renamed_file: file.renamedFile,
  deleted_file: file.deletedFile,
  generated_file: false,
})

const namesOf = (file: FilePatch): string => {
  const [from, to] = [
    file.newFile ? '/dev/null' : `a/${file.oldPath}`,
    file.deletedFile ? '/dev/null' : `b/${file.newPath}`,
  ]
  return `--- ${from}\n+++ ${to}\n`
}

/** The diff of a commit against its first parent, a root against nothing. */
export async function patchOf(repository: Repository, commit: Commit): Promise<Patch> {
  const [parent] = commit.parents
  const before = parent === undefined ? undefined : await repository.commit(parent)
  return repository.patch(before?.tree, commit.tree)
}
