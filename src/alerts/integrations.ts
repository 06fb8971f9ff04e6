import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { violates } from '../db/errors.ts'
import type { AlertIntegration, AlertMapping, IntegrationType } from '../db/schema/alerts.ts'
import { statement, type Slots } from '../db/statement.ts'

/** The identifiers of the URLs without a name, by type: a project's first integration of a type has it. */
export const UNNAMED: Readonly<Record<IntegrationType, string>> = {
  http: 'legacy',
  prometheus: 'legacy-prometheus',
}

const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest()
/** 32 hex digits, shown once. */
const makeKey = (): string => randomBytes(16).toString('hex')

/** Whether a key is the integration's, in constant time. */
export const isKeyOf = ({ key_digest }: Pick<AlertIntegration, 'key_digest'>, key: string): boolean =>
  timingSafeEqual(key_digest, digestOf(key))

/** An integration with what its project does with alerts. */
export interface Receiving extends AlertIntegration {
  readonly create_incidents: boolean
  readonly auto_close_incidents: boolean
  /** Whether the project has an earlier one of the type: licences below Premium bring one of each. */
  readonly is_further: boolean
}

const receivingStatement = statement(
  (p: Slots<{ full_path: string; endpoint: string }>) => sql<Receiving>`
    select i.*, coalesce(s.create_incidents, false) as create_incidents,
           coalesce(s.auto_close_incidents, true) as auto_close_incidents,
           exists (select from alert_integrations o
                    where o.project_id = i.project_id and o.type = i.type and o.active and o.id < i.id) as is_further
      from projects p
      join alert_integrations i on i.project_id = p.id
      left join alert_settings s on s.project_id = p.id
     where lower(p.full_path) = lower(${p.full_path}) and not p.archived
       and i.endpoint_identifier = ${p.endpoint} and i.active`,
)
/** The active integration of a project that is not archived. */
export const findReceiving = (db: Db, fullPath: string, endpoint: string): Promise<Receiving | undefined> =>
  db.one(receivingStatement, { full_path: fullPath, endpoint })

const listStatement = statement(
  (p: Slots<{ project_id: number }>) =>
    sql<AlertIntegration>`select * from alert_integrations where project_id = ${p.project_id} order by id`,
)
export const list = (db: Db, projectId: number): Promise<AlertIntegration[]> =>
  db.rows(listStatement, { project_id: projectId })

interface NewIntegration {
  readonly project: { readonly id: number; readonly full_path: string }
  readonly name: string
  readonly type: IntegrationType
  readonly mapping: AlertMapping | null
}
interface Values {
  readonly project_id: number
  readonly name: string
  readonly type: IntegrationType
  readonly mapping: string | null
  readonly endpoint: string
  readonly digest: Buffer
}
const insertStatement = statement(
  (p: Slots<Values>) =>
    sql<AlertIntegration>`
      insert into alert_integrations (project_id, name, type, endpoint_identifier, key_digest, mapping)
      values (${p.project_id}, ${p.name}, ${p.type}, ${p.endpoint}, ${p.digest}, ${p.mapping}::jsonb) returning *`,
)

export interface WithKey {
  readonly integration: AlertIntegration
  /** Shown once: only its digest is kept. */
  readonly key: string
}

/**
 * Creates an integration. The first of its type in a project answers at the URL without a name, unless that would be the
 * URL of Prometheus in the namespace of a project called `prometheus`.
 */
export async function create(db: Db, { project, name, type, mapping }: NewIntegration): Promise<WithKey> {
  const key = makeKey()
  const insert = (endpoint: string): Promise<AlertIntegration> =>
    db.insert(insertStatement, {
      project_id: project.id,
      name,
      type,
      mapping: mapping && JSON.stringify(mapping),
      endpoint,
      digest: digestOf(key),
    })
  const named = randomBytes(8).toString('hex')
  const isAmbiguous = type === 'http' && /\/prometheus$/i.test(project.full_path)
  const integration = await insert(isAmbiguous ? named : UNNAMED[type]).catch((error: unknown) => {
    if (!violates(error, 'alert_integrations_endpoint_key')) throw error
    return insert(named)
  })
  return { integration, key }
}

const rotateStatement = statement(
  (p: Slots<{ project_id: number; id: number; digest: Buffer }>) => sql<AlertIntegration>`
    update alert_integrations set key_digest = ${p.digest}, updated_at = now()
     where project_id = ${p.project_id} and id = ${p.id} returning *`,
)
/** Replaces the key; the old one opens nothing any more. */
export async function rotate(db: Db, projectId: number, id: number): Promise<WithKey | undefined> {
  const key = makeKey()
  const integration = await db.one(rotateStatement, { project_id: projectId, id, digest: digestOf(key) })
  return integration && { integration, key }
}

const activeStatement = statement(
  (p: Slots<{ project_id: number; id: number; active: boolean }>) => sql<AlertIntegration>`
    update alert_integrations set active = ${p.active}, updated_at = now()
     where project_id = ${p.project_id} and id = ${p.id} returning *`,
)
/** Lets an integration take alerts, or no more of them. */
export const setActive = (
  db: Db,
  projectId: number,
  { id, active }: Pick<AlertIntegration, 'id' | 'active'>,
): Promise<AlertIntegration | undefined> => db.one(activeStatement, { project_id: projectId, id, active })

/** The path of the URL that an integration answers at, below the server's own address. */
export function pathOf(fullPath: string, integration: AlertIntegration): string {
  const { endpoint_identifier: endpoint, name } = integration
  if (endpoint === UNNAMED.prometheus) return `/${fullPath}/prometheus/alerts/notify.json`
  if (endpoint === UNNAMED.http) return `/${fullPath}/alerts/notify.json`
  return `/${fullPath}/alerts/notify/${slugOf(name)}/${endpoint}.json`
}

/** A name as it appears in a URL, where it is for people alone. */
const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 63) || 'http-endpoint'
