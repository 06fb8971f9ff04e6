import { join } from 'node:path'
import { gitText, initRepository, scratch } from './git_fixtures.ts'

/** Names that are hard to handle, all of them lawful in a tree. */
export const ODD_NAMES = [
  ' lead',
  '"quoted"',
  '%2e%2e',
  '*.glob',
  ':(exclude)x',
  'a\nb',
  'a\tb',
  'a b.txt',
  'back\\slash',
  'ümläut — 文.md',
  '🦊',
] as const

export interface OddTree {
  readonly directory: string
  readonly sha: string
  /** The target of the submodule `module`. */
  readonly pointer: string
  readonly blob: (path: string) => string
}

/**
 * Writes a repository whose branch `main` has a symbolic link that leads outside (`link`), a submodule (`module`), a
 * program (`bin/run`), binary, empty and large files (`bin/data`, `empty`, `large`: 11 MB and `large.txt`: 2 MB), and
 * files of all odd names below `odd/`, each holding its name.
 */
export function writeOddTree(): OddTree {
  const directory = join(scratch(), 'odd.git')
  initRepository(directory)
  const pointer = 'c'.repeat(40)
  const blobs = new Map<string, string>()
  const write = (path: string, content: string | Buffer): string => {
    const id = gitText(directory, ['hash-object', '-w', '--stdin', '--no-filters'], content)
    blobs.set(path, id)
    return id
  }
  const tree = (lines: readonly string[]): string =>
    gitText(directory, ['mktree', '-z', '--missing'], lines.join(''))
  const line = (mode: string, kind: string, id: string, name: string): string =>
    `${mode} ${kind} ${id}\t${name}\0`
  const odd = tree(ODD_NAMES.map((name) => line('100644', 'blob', write(`odd/${name}`, name), name)))
  const bin = tree([
    line('100755', 'blob', write('bin/run', '#!/bin/sh\n'), 'run'),
    line('100644', 'blob', write('bin/data', Buffer.from([0, 1, 254, 255])), 'data'),
  ])
  const root = tree([
    line('040000', 'tree', bin, 'bin'),
    line('100644', 'blob', write('empty', ''), 'empty'),
    line('100644', 'blob', write('large', Buffer.alloc(11 * 1024 * 1024, 'x')), 'large'),
    line('100644', 'blob', write('large.txt', Buffer.alloc(2 * 1024 * 1024, 'y\n')), 'large.txt'),
    line('120000', 'blob', write('link', '../../../etc/passwd'), 'link'),
    line('160000', 'commit', pointer, 'module'),
    line('040000', 'tree', odd, 'odd'),
  ])
  const sha = gitText(directory, ['commit-tree', '-m', 'Odd', root])
  gitText(directory, ['update-ref', 'refs/heads/main', sha])
  return { directory, sha, pointer, blob: (path) => blobs.get(path) ?? '' }
}
