/* The whole program is killed while forty clients upload packages. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { npmDocument, npmTarball } from '../support/npm_packages.ts'
import { killServer, killsOf, openReadyPlace, until, type Place } from '../support/program.ts'

const KILLS = killsOf(3)
const CLIENTS = 40
const TOKEN = 'a-token-that-outlives-every-crash'
const headers = { 'private-token': TOKEN }

let place: Place
before(async () => {
  place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: TOKEN, LOG_LEVEL: 'warn' })
})
after(() => place.clear())

interface Upload {
  readonly path: string
  readonly type: string
  readonly body: Buffer
  /** Of the file that is kept. */
  readonly sha256: string
}
const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** A generic file, or an npm package, of some 300 KB that nothing compresses. */
function uploadOf(name: string, isNpm: boolean): Upload {
  const noise = randomBytes(150_000).toString('hex')
  if (!isNpm) {
    const body = Buffer.from(noise)
    return { path: `generic/${name}/1/f`, type: 'application/octet-stream', body, sha256: sha256Of(body) }
  }
  const tarball = npmTarball({ name, version: '1.0.0' }, { 'noise.txt': noise })
  const body = Buffer.from(JSON.stringify(npmDocument({ name, version: '1.0.0', tarball })))
  return { path: `npm/${name}`, type: 'application/json', body, sha256: sha256Of(tarball) }
}

/** Sends an upload in pieces; true when it was acknowledged. */
async function send(packages: string, { path, type, body }: Upload): Promise<boolean> {
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < body.length; at += 60_000) {
      yield body.subarray(at, at + 60_000)
      await sleep(5)
    }
  }
  const answer = await fetch(`${packages}/${path}`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': type },
    body: ReadableStream.from(pieces()),
    duplex: 'half',
  }).catch(() => undefined)
  return answer?.ok === true
}

interface File {
  readonly id: number
  readonly size: number
  readonly file_sha256: string
}

/** Downloads every file of every package that is listed, and answers their digests. */
async function downloadAll(packages: string): Promise<Set<string>> {
  const digests = new Set<string>()
  const list = async (at: string): Promise<readonly { readonly id: number }[]> => {
    const answer = await fetch(at, { headers })
    assert.equal(answer.status, 200)
    return (await answer.json()) as { id: number }[]
  }
  for (let page = 1; ; page += 1) {
    const listed = await list(`${packages}?per_page=100&page=${page}`)
    if (listed.length === 0) return digests
    for (const { id } of listed)
      for (const file of (await list(`${packages}/${id}/package_files`)) as readonly File[]) {
        const at = `${packages}/${id}/package_files/${file.id}/download`
        const bytes = Buffer.from(await (await fetch(at, { headers })).arrayBuffer())
        assert.deepEqual([bytes.length, sha256Of(bytes)], [file.size, file.file_sha256])
        digests.add(file.file_sha256)
      }
  }
}

test('no acknowledged file is lost when the program is killed during forty uploads, and no half file is served', async (t) => {
  let server = await place.serve()
  await place.json(['group', 'create', '--path', 'harbour'])
  const project = await place.json(['project', 'create', '--path', 'harbour/crane'])
  const acknowledged = new Set<string>()
  for (let round = 0; round < KILLS; round += 1) {
    const packages = `${server.api}/projects/${String(project['id'])}/packages`
    let count = 0
    const clients = Array.from({ length: CLIENTS }, async (_, i) => {
      const upload = uploadOf(`round-${round}-${i}`, i % 2 === 0)
      if (!(await send(packages, upload))) return
      acknowledged.add(upload.sha256)
      count += 1
    })
    await until('some uploads are acknowledged', () => count >= 5 * (round + 1))
    await killServer(place, server, { withDatabase: round % 2 === 1 })
    await Promise.all(clients)
    assert.ok(count < CLIENTS, 'some uploads were under way')
    server = await place.serve()
    const at = `${server.api}/projects/${String(project['id'])}/packages`
    const found = await downloadAll(at)
    assert.deepEqual(
      [...acknowledged].filter((digest) => !found.has(digest)),
      [],
    )
  }
  await server.stop()
  t.diagnostic(`${acknowledged.size} acknowledged files survived ${KILLS} kills`)
})
