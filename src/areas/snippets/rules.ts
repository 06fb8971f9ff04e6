import type { SnippetFile } from './store.ts'

/** As many files as a snippet has at most. */
const MOST_FILES = 10

/** The new state of one file. */
export interface FileAction {
  readonly action: 'create' | 'update' | 'delete' | 'move'
  readonly file_path?: string | undefined
  readonly previous_path?: string | undefined
  readonly content?: string | undefined
}

/** Why the files of a snippet were not changed. */
export class FileFault extends Error {}

const isPath = (path: string): boolean =>
  path !== '' &&
  path.length <= 1_000 &&
  !path.startsWith('/') &&
  path
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git')

/** A name for a file that was given none. */
const nameFor = (taken: readonly string[]): string => {
  for (let number = 1; ; number += 1) {
    const name = `snippetfile${number}.txt`
    if (!taken.includes(name)) return name
  }
}

/** The files of a snippet after each action in turn. Throws FileFault for the first that cannot be done. */
export function applyFiles(before: readonly SnippetFile[], actions: readonly FileAction[]): SnippetFile[] {
  const files = [...before]
  const at = (path: string): number => files.findIndex((file) => file.path === path)
  for (const { action, file_path, previous_path, content } of actions) {
    const path = file_path || nameFor(files.map((file) => file.path))
    if (!isPath(path)) throw new FileFault('Invalid file path')
    const from = action === 'move' ? at(previous_path ?? '') : at(path)
    const isNew = action === 'create'
    if (isNew ? from !== -1 : from === -1)
      throw new FileFault(
        isNew ? 'A file with this name already exists' : "A file with this name doesn't exist",
      )
    if (action === 'move' && path !== previous_path && at(path) !== -1)
      throw new FileFault('A file with this name already exists')
    const text = content ?? files[from]?.content ?? ''
    if (isNew) files.push({ path, content: text })
    else if (action === 'delete') files.splice(from, 1)
    else files[from] = { path, content: text }
  }
  if (files.length > MOST_FILES) throw new FileFault(`Snippets can have at most ${MOST_FILES} files`)
  if (files.length === 0) throw new FileFault('Snippet needs at least one file')
  return files
}
