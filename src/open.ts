import { mergeAfterPipeline } from './areas/merge_requests/merging/auto_merge_job.ts'
import { applyPushOptions } from './areas/merge_requests/merging/push_options_job.ts'
import { branchByCommand } from './areas/merge_requests/merging/commanded.ts'
import { issueByCommand } from './areas/issues/commanded.ts'
import { existsSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { checkSecret, openVault } from './access/secrets.ts'
import { removeArtifacts } from './ci/jobs/artifacts.ts'
import { linkMergeRequests } from './ci/environments/deployment_links.ts'
import {
  createDownstreamPipeline,
  followDownstreamPipeline,
  resumeBridges,
} from './ci/downstream/creation_job.ts'
import { createFirstPipeline } from './ci/creation/merge_request_pipelines.ts'
import { cancelRedundantPipelines } from './ci/creation/redundant_pipelines.ts'
import { createPushPipelines } from './ci/creation/push_pipelines.ts'
import { playSchedule, resumeSchedules, runSchedule } from './ci/creation/schedules.ts'
import { removeTraces } from './ci/jobs/trace_removal.ts'
import { openTraces } from './ci/jobs/traces.ts'
import { patienceOf, watchJobs } from './ci/watch.ts'
import { openBlobs } from './blobs/blobs.ts'
import { rewriteMavenMetadata } from './packages/maven_metadata.ts'
import { collectBlobs } from './blobs/collect.ts'
import { openDisk } from './blobs/disk.ts'
import { BLOB_REFERENCES } from './blobs/references.ts'
import type { BlobStorage } from './blobs/storage.ts'
import type { Config } from './config.ts'
import { processCommitMessages } from './core/pushes/commit_references.ts'
import { sendInvitations } from './core/people/invitation_mail.ts'
import { scheduleIterations } from './core/planning/iteration_schedule.ts'
import { openPendingRefUpdates } from './core/pushes/pending_ref_updates.ts'
import { openOutbound, type OutboundLimits } from './core/settings/outbound_requests.ts'
import { importRepository } from './core/pushes/import_job.ts'
import { watchImports } from './core/pushes/import_watch.ts'
import { compareAgain, dropMergeRequestHead, keepMergeRequestHead } from './core/merge_requests/moves.ts'
import { removeRepository } from './core/places/project_removal.ts'
import {
  followDefaultBranch,
  maintainRepository,
  measureRepository,
} from './core/repositories/repositories.ts'
import { openSettings } from './core/settings/settings.ts'
import { openUndeliveredPushes } from './core/pushes/undelivered_pushes.ts'
import { syncIncident } from './alerts/incidents.ts'
import { pruneErrorEvents } from './errors/partitions.ts'
import type { Client } from './db/client.ts'
import { openDatabase, type Database } from './db/database.ts'
import { migrate, refuseHalfRestored } from './db/migrate.ts'
import { openGit } from './git/git.ts'
import { watchExports } from './vulnerabilities/expiry.ts'
import { deliverWebhooks } from './hooks/delivery_job.ts'
import { pruneEvents } from './hooks/pruning.ts'
import { watchOutbox } from './hooks/relay.ts'
import { exportVulnerabilities } from './vulnerabilities/exporting.ts'
import { importSecurityReports } from './vulnerabilities/pipeline_reports.ts'
import { expireIdempotencyKeys } from './http/idempotency/expiry.ts'
import { checkGit } from './git/version.ts'
import type { Instance } from './instance.ts'
import type { AnyJob } from './jobs/job.ts'
import { migrateQueue } from './jobs/queue.ts'
import { startWorker, type Worker } from './jobs/worker.ts'

// Where everything but the doors is constructed. Commands stop here: what serves requests takes as long to load again.

const JOBS: readonly AnyJob[] = [
  createPushPipelines,
  createFirstPipeline,
  cancelRedundantPipelines,
  createDownstreamPipeline,
  followDownstreamPipeline,
  resumeBridges,
  runSchedule,
  playSchedule,
  resumeSchedules,
  linkMergeRequests,
  collectBlobs,
  rewriteMavenMetadata,
  measureRepository,
  followDefaultBranch,
  maintainRepository,
  processCommitMessages,
  compareAgain,
  keepMergeRequestHead,
  dropMergeRequestHead,
  importRepository,
  removeRepository,
  scheduleIterations,
  sendInvitations,
  branchByCommand,
  mergeAfterPipeline,
  applyPushOptions,
  issueByCommand,
  pruneErrorEvents,
  syncIncident,
  exportVulnerabilities,
  importSecurityReports,
  removeArtifacts,
  removeTraces,
  expireIdempotencyKeys,
  deliverWebhooks,
  pruneEvents,
]

export interface Opened {
  readonly instance: Instance
  readonly client: Client
  close(): Promise<void>
}

export interface OpenOptions {
  readonly log: FastifyBaseLogger
  /** Work beside a server that is already running on the data directory; `wait` for one. */
  readonly join?: boolean | 'wait'
  readonly onStatement?: (name: string) => void
  /** Limits of requests to other servers; OUTBOUND_LIMITS where left out. */
  readonly outbound?: Partial<OutboundLimits>
}

/** Makes a folder and those above it. To make all at once never ends where nobody can make any, as below `/proc`. */
async function makeFolder(path: string): Promise<void> {
  if (existsSync(path) && statSync(path).isDirectory()) return
  if (!existsSync(dirname(path))) await makeFolder(dirname(path))
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    // Another process was as quick.
    if (error.code !== 'EEXIST' || !statSync(path).isDirectory()) throw error
  })
}

/** Opens everything but the doors: the database brought up to date, git, settings, secrets. */
export async function openInstance(config: Config, options: OpenOptions): Promise<Opened> {
  const { log, join: joins = false, onStatement } = options
  await checkGit(config.path)
  await makeFolder(config.dataDir).catch((error: NodeJS.ErrnoException) => {
    const text = `GUILDHALL_DATA_DIR is "${config.dataDir}": the folder cannot be made (${error.code ?? error.message})`
    throw new Error(text, { cause: error })
  })
  const database = await openDatabase(config, {
    join: joins,
    log: (line) => log.info({ from: 'database' }, line),
    ...(onStatement && { onStatement }),
  })
  try {
    return await furnish(config, database, options)
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The client of S3 is loaded where a bucket is configured. */
export async function openStorage({ bucket, dataDir }: Config): Promise<BlobStorage> {
  if (bucket === undefined) return openDisk(join(dataDir, 'blobs'))
  return (await import('./blobs/s3.ts')).openS3(bucket)
}

async function furnish(
  config: Config,
  database: Database,
  { log, outbound: limits }: OpenOptions,
): Promise<Opened> {
  const { client } = database
  await refuseHalfRestored(client)
  const applied = await migrate(client)
  if (applied.length > 0) log.info({ applied }, 'the database was brought up to date')
  await migrateQueue(client)
  const [settings, vault] = await Promise.all([openSettings(client, config), openVault(config.secretFile)])
  await checkSecret(client, vault, config.secretFile)
  const root = join(config.dataDir, 'repositories')
  await mkdir(root, { recursive: true, mode: 0o700 })
  const outbound = openOutbound({ settings, limits, log: (event) => log.warn(event, 'outbound request') })
  const git = openGit({ root, path: config.path, log: (event) => log.warn(event, 'git') })
  return {
    client,
    instance: {
      config,
      db: client,
      blobs: openBlobs({
        db: client,
        storage: await openStorage(config),
        references: BLOB_REFERENCES,
      }),
      git,
      settings,
      vault,
      outbound,
      pendingRefUpdates: openPendingRefUpdates(
        join(config.dataDir, 'moving'),
        openUndeliveredPushes(join(config.dataDir, 'unheard')),
      ),
      traces: openTraces(join(config.dataDir, 'traces')),
    },
    close: async () => {
      outbound.close()
      await git.close()
      await database.close()
    },
  }
}

export function startJobs({ client, instance }: Opened, log: FastifyBaseLogger): Worker {
  const worker = startWorker(client, instance, { jobs: JOBS, log })
  const say = (detail: object, text: string): void => log.warn(detail, text)
  const patience = patienceOf(instance.config.runnerTimeout)
  const unwatch = [
    watchImports(client, say),
    watchJobs(client, say, patience),
    watchExports(instance, say),
    watchOutbox(instance, say),
  ]
  return {
    stop: () => {
      for (const end of unwatch) end()
      return worker.stop()
    },
  }
}
