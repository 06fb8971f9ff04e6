import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
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
