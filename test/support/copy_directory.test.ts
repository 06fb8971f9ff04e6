import assert from 'node:assert/strict'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { copyDirectory } from './copy_directory.ts'

test('a copied directory keeps the permissions of its folders and files on every version of Node', (t) => {
  const place = mkdtempSync(join(tmpdir(), 'guildhall-copy-'))
  t.after(() => rmSync(place, { recursive: true }))
  const source = join(place, 'source')
  mkdirSync(join(source, 'cluster'), { recursive: true })
  writeFileSync(join(source, 'cluster', 'key'), 'secret')
  symlinkSync('key', join(source, 'cluster', 'link'))
  chmodSync(join(source, 'cluster', 'key'), 0o600)
  chmodSync(join(source, 'cluster'), 0o700)
  const target = join(place, 'target')
  copyDirectory(source, target)
  const mode = (...path: string[]): number => lstatSync(join(target, ...path)).mode & 0o777
  assert.equal(mode('cluster'), 0o700)
  assert.equal(mode('cluster', 'key'), 0o600)
  assert.equal(readFileSync(join(target, 'cluster', 'key'), 'utf8'), 'secret')
  assert.equal(readlinkSync(join(target, 'cluster', 'link')), 'key')
})
