import { create, pathOf } from '../../src/alerts/integrations.ts'
import type { AlertMapping, IntegrationType } from '../../src/db/schema/alerts.ts'
import type { Project } from '../../src/db/schema/tables.ts'
import { rowsOf } from './rows.ts'
import type { Answered, World } from './world.ts'

/** A URL that takes alerts, with its key. */
export interface Receiver {
  readonly id: number
  readonly path: string
  readonly key: string
}

/** Makes an integration; the first of its type in a project answers at the URL without a name. */
export async function makeReceiver(
  world: World,
  project: Pick<Project, 'id' | 'full_path'>,
  type: IntegrationType = 'http',
  mapping: AlertMapping | null = null,
): Promise<Receiver> {
  const values = { project, name: 'Main Sender', type, mapping }
  const { integration, key } = await create(world.opened.instance.db, values)
  return { id: integration.id, path: pathOf(project.full_path, integration), key }
}

/** Sends a payload with the receiver's key, unless `headers` say otherwise. */
export const send = (
  world: World,
  { path, key }: Receiver,
  payload: object | string,
  headers: Record<string, string> = { authorization: `Bearer ${key}` },
): Promise<Answered> =>
  world.call('POST', `{base_url}${path}`, {
    body: typeof payload === 'string' ? payload : JSON.stringify(payload),
    headers: { 'content-type': 'application/json', ...headers },
  })

export interface AlertRow {
  readonly [column: string]: unknown
  readonly id: number
  readonly iid: number
  readonly title: string
  readonly status: string
  readonly events: number
}

export const alertsOf = (world: World, project: { readonly id: number }): Promise<AlertRow[]> =>
  rowsOf<AlertRow>(
    world,
    `select a.*, a.payload::text as payload, a.started_at::text as started_at, a.ended_at::text as ended_at, encode(a.fingerprint, 'hex') as fingerprint
       from alerts a where project_id = $1 order by iid`,
    [project.id],
  )
