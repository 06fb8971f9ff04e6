import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'

/** Keeps what must be shown again (runner tokens, trigger tokens): encrypted, readable with the instance's secret. */
export interface Vault {
  readonly seal: (text: string) => Buffer
  /** Throws when the bytes were sealed with another secret. */
  readonly open: (sealed: Buffer) => string
}

const keepSealed = statement(
  (p: Slots<{ sealed: Buffer }>) =>
    sql`insert into secret_check (sealed) values (${p.sealed}) on conflict do nothing`,
)
const readSealed = statement(() => sql<{ sealed: Buffer }>`select sealed from secret_check`)

/** Throws when the database was used with another secret than the one in `file`: nothing sealed there could be read. */
export async function checkSecret(db: Db, vault: Vault, file: string): Promise<void> {
  const known = await db.one(readSealed, {})
  if (known === undefined) return void (await db.run(keepSealed, { sealed: vault.seal('guildhall') }))
  try {
    vault.open(known.sealed)
  } catch (error) {
    const text = `GUILDHALL_SECRET_FILE: ${file} is not the secret that this database was used with; put the old file back`
    throw new Error(text, { cause: error })
  }
}

const NONCE = 12
const TAG = 16

/** Opens the vault with the 32 bytes in `file`, which is made, readable by its owner only, in a folder that is there. */
export async function openVault(file: string): Promise<Vault> {
  const key = await readKey(file)
  return {
    seal: (text) => {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    open: (sealed) => {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE))
      decipher.setAuthTag(sealed.subarray(-TAG))
      return decipher.update(sealed.subarray(NONCE, -TAG), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}

async function readKey(file: string): Promise<Buffer> {
  const known = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw unusable(file, 'read', error)
  })
  if (known !== undefined) return parse(file, known)
  return parse(
    file,
    await makeKey(file).catch((error: NodeJS.ErrnoException) => {
      throw unusable(file, 'made', error)
    }),
  )
}

const unusable = (file: string, what: string, { code }: NodeJS.ErrnoException): Error =>
  new Error(`GUILDHALL_SECRET_FILE: ${file} cannot be ${what} (${code})`)

async function makeKey(file: string): Promise<string> {
  const fresh = `${file}.${process.pid}`
  const handle = await open(fresh, 'w', 0o600)
  await handle.writeFile(randomBytes(32).toString('hex'))
  await handle.sync()
  await handle.close()
  // A link appears whole or not at all, and never in the place of a secret that is there.
  await link(fresh, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(fresh)
  return readFile(file, 'utf8')
}

function parse(file: string, content: string): Buffer {
  const text = content.trim()
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new Error(`GUILDHALL_SECRET_FILE: ${file} must hold 64 hexadecimal digits`)
  return Buffer.from(text, 'hex')
}
