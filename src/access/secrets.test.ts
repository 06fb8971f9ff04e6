import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTestDatabase } from '../../test/support/database.ts'
import { createClient } from '../db/client.ts'
import { checkSecret, openVault } from './secrets.ts'

test('a database is not opened with another secret than the one it was used with', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-secret-'))
  const database = await createTestDatabase()
  const client = createClient({ connectionString: database.url })
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  await checkSecret(client, await openVault(first), first)
  await checkSecret(client, await openVault(first), first)
  await assert.rejects(checkSecret(client, await openVault(second), second), {
    message: `GUILDHALL_SECRET_FILE: ${second} is not the secret that this database was used with; put the old file back`,
  })
  await checkSecret(client, await openVault(first), first)
  await client.close()
  await database.drop()
  await rm(folder, { recursive: true })
})

test('a secret file that cannot be used is refused by name, without its content', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-secret-'))
  const [directory, short] = [join(folder, 'directory'), join(folder, 'short')]
  await mkdir(directory)
  await writeFile(short, 'a password')
  for (const [file, fault] of [
    [directory, 'cannot be read (EISDIR)'],
    [join(short, 'below'), 'cannot be read (ENOTDIR)'],
    ['/proc/none/secret', 'cannot be made (ENOENT)'],
    [short, 'must hold 64 hexadecimal digits'],
  ] as const)
    await assert.rejects(openVault(file), { message: `GUILDHALL_SECRET_FILE: ${file} ${fault}` })
  await rm(folder, { recursive: true })
})
