import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'

/**
 * Copies a directory with the permissions of each folder and file. `cpSync` of Node 22 and later gives folders those of
 * the umask, and PostgreSQL refuses a data directory that others may read.
 */
export function copyDirectory(source: string, target: string): void {
  mkdirSync(target, { recursive: true })
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const from = join(source, entry.name)
    const to = join(target, entry.name)
    if (entry.isDirectory()) copyDirectory(from, to)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), to)
    else if (entry.isFile()) copyFileSync(from, to)
  }
  // Last: a folder that may not be written could not be filled.
  chmodSync(target, lstatSync(source).mode & 0o7777)
}
