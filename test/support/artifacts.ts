import { crc32, deflateRawSync } from 'node:zlib'
import { rowsOf } from './rows.ts'
import type { World } from './world.ts'

/** A ZIP archive of these files; those whose name ends with `.txt` are deflated. */
export function zipOf(files: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = []
  const entries: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const bytes = Buffer.from(text)
    const isDeflated = name.endsWith('.txt')
    const data = isDeflated ? deflateRawSync(bytes) : bytes
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(isDeflated ? 8 : 0, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004', 'latin1'), common, Buffer.from(name), data])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    entries.push(
      Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000', 'latin1'), common, place, Buffer.from(name)]),
    )
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}

const FILES = { 'out/made.txt': 'made\n', 'out/raw.bin': 'raw' }

/** Gives a job an archive, as its runner would upload it. */
export async function keepArchive(
  world: World,
  job: { readonly id: number; readonly project_id: number },
  {
    files = FILES,
    expires_in = 3_600,
  }: { readonly files?: Readonly<Record<string, string>>; readonly expires_in?: number | null } = {},
): Promise<void> {
  const { instance } = world.opened
  const bytes = zipOf(files)
  const body = async function* (): AsyncGenerator<Buffer> {
    yield bytes
  }
  const { sha256, size } = await instance.blobs.write(body(), { limit: 1_000_000 })
  await rowsOf(
    world,
    `with kept as (
       insert into ci_job_artifacts (job_id, project_id, file_type, file_format, filename, size, sha256, expire_at)
       values ($1, $2, $3, 'zip', $4, $5, $6, now() + make_interval(secs => $7::float))
       on conflict (job_id, file_type) do update set size = excluded.size, sha256 = excluded.sha256,
         expire_at = excluded.expire_at
       returning job_id, expire_at)
     update ci_jobs j set artifacts_expire_at = kept.expire_at from kept where j.id = kept.job_id`,
    [job.id, job.project_id, 'archive', 'artifacts.zip', size, sha256, expires_in],
  )
}
