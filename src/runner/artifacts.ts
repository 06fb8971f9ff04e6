import { createReadStream, createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Coordinator } from './coordinator.ts'
import { selectFiles, type Found } from './files.ts'
import type { ArtifactSpec, JobPayload } from './payload.ts'
import { expand, type Values } from './variables.ts'
import { readZip } from './zip_reader.ts'
import { writeZip } from './zip_writer.ts'

interface Exchange {
  readonly coordinator: Coordinator
  readonly job: JobPayload
  readonly values: Values
  readonly project: string
  readonly temporary: string
  readonly untracked: () => Promise<readonly string[]>
  readonly say: (line: string) => void
}

/** Downloads and unpacks the archives that the job depends on. */
export async function downloadArtifacts({
  coordinator,
  job,
  project,
  temporary,
  say,
}: Exchange): Promise<void> {
  for (const dependency of job.dependencies ?? []) {
    if (dependency.artifacts_file === undefined) continue
    say(`Downloading artifacts for ${dependency.name} (${dependency.id})...`)
    const path = join(temporary, `dependency-${dependency.id}.zip`)
    await coordinator.download(dependency, path)
    await readZip(path, project)
    await rm(path)
  }
}

/** Whether a file that is uploaded `when` is due at this end of the job. */
const isDue = ({ when }: ArtifactSpec, isSuccess: boolean): boolean =>
  when === 'always' || (when === 'on_failure') === !isSuccess

/** Uploads the job's files. Throws where the server refuses one. */
export async function uploadArtifacts(exchange: Exchange, isSuccess: boolean): Promise<void> {
  const { coordinator, job, values, project, temporary, untracked, say } = exchange
  for (const [at, spec] of (job.artifacts ?? []).entries()) {
    if (!isDue(spec, isSuccess)) continue
    say(`Uploading artifacts${spec.artifact_type === 'archive' ? '' : ` as ${spec.artifact_type}`}...`)
    const { files, notes } = await selectFiles(project, {
      paths: (spec.paths ?? []).map((path) => expand(path, values)),
      exclude: (spec.exclude ?? []).map((path) => expand(path, values)),
      untracked: spec.untracked ? await untracked() : [],
    })
    for (const note of notes) say(note)
    const path = join(temporary, `artifact-${at}`)
    const packed = await pack(spec, { project, files, path })
    if (!packed) {
      say('ERROR: No files to upload')
      continue
    }
    const name = nameOf(spec, values)
    await coordinator.upload(job, spec, { path, name })
    say(`Uploaded ${name} (${(await stat(path)).size} bytes)`)
    await rm(path)
  }
}

const SUFFIXES = { zip: '.zip', gzip: '.gz', raw: '' }

function nameOf(spec: ArtifactSpec, values: Values): string {
  const format = spec.artifact_format ?? 'zip'
  const given = expand(spec.name ?? '', values).replaceAll('/', '-') || 'artifacts'
  return given.endsWith(SUFFIXES[format]) ? given : given + SUFFIXES[format]
}

interface Packing {
  readonly project: string
  readonly files: readonly Found[]
  readonly path: string
}

/** False where there is nothing to pack. */
async function pack(spec: ArtifactSpec, { project, files, path }: Packing): Promise<boolean> {
  if ((spec.artifact_format ?? 'zip') === 'zip') {
    if (files.length === 0) return false
    await writeZip(project, files, path)
    return true
  }
  const contents = files.filter(({ kind }) => kind === 'file')
  if (contents.length === 0) return false
  const chosen = spec.artifact_format === 'raw' ? contents.slice(0, 1) : contents
  for (const file of chosen) {
    const from = createReadStream(join(project, file.path))
    const to = createWriteStream(path, { flags: 'a', mode: 0o600 })
    // Members of gzip follow each other in one file.
    await (spec.artifact_format === 'raw' ? pipeline(from, to) : pipeline(from, createGzip(), to))
  }
  return true
}
