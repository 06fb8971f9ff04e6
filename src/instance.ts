import type { Traces } from './ci/traces.ts'
import type { Vault } from './access/secrets.ts'
import type { Blobs } from './blobs/blobs.ts'
import type { Config } from './config.ts'
import type { Moving } from './core/moving.ts'
import type { Outbound } from './core/outbound_requests.ts'
import type { Settings } from './core/settings.ts'
import type { Db } from './db/client.ts'
import type { Git } from './git/git.ts'

/** What one running server or worker has, built once by `app.ts` and within reach of every request. */
export interface Instance {
  readonly config: Config
  readonly db: Db
  /** Files by digest: packages, artifacts, exports, uploads. */
  readonly blobs: Blobs
  readonly git: Git
  readonly settings: Settings
  readonly moving: Moving
  readonly outbound: Outbound
  readonly vault: Vault
  /** Logs of jobs. */
  readonly traces: Traces
}
