import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { killWriters } from '../../test/support/blob_crash.ts'
import { openDisk } from './disk.ts'

test('a killed writer loses no acknowledged blob and leaves nothing that is not collected', async (t) => {
  const root = join(mkdtempSync(join(tmpdir(), 'guildhall-blob-crash-')), 'blobs')
  t.after(() => rmSync(join(root, '..'), { recursive: true }))
  const leftovers = (): string[] =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
  t.diagnostic(await killWriters({ storage: openDisk(root), root, lines: 1_000, leftovers }))
})
