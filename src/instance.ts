import type { Traces } from './ci/jobs/traces.ts'
import type { Vault } from './access/secrets.ts'
import type { Blobs } from './blobs/blobs.ts'
import type { Config } from './config.ts'
import type { PendingRefUpdates } from './core/pushes/pending_ref_updates.ts'
import type { Outbound } from './core/settings/outbound_requests.ts'
import type { Settings } from './core/settings/settings.ts'
import type { Db } from './db/db.ts'
import type { Git } from './git/git.ts'

/** Parts of one running server or worker, built once by `app.ts` and within reach of every request. */
export interface Instance {
  readonly config: Config
  readonly db: Db
  /** Files by digest: packages, artifacts, exports, uploads. */
  readonly blobs: Blobs
  readonly git: Git
  readonly settings: Settings
  readonly pendingRefUpdates: PendingRefUpdates
  readonly outbound: Outbound
  readonly vault: Vault
  /** Logs of jobs. */
  readonly traces: Traces
}
