import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { CiVariable } from '../../db/schema/ci_variables.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import type { Variable } from '../config/plan.ts'

/** A variable of the instance, a group or a project; the runner hides the value of a masked one in logs. */
export interface SecretVariable extends Variable {
  readonly masked: boolean
}
/** The variables that a job with this environment (null: none) sees, the weakest first, each key once. */
export type SecretsOf = (environment: string | null) => readonly SecretVariable[]

type Row = CiVariable & { readonly rank: number }

const visible = statement(
  (p: Slots<{ project_id: number; groups: readonly number[]; protected: boolean }>) => sql<Row>`
    select v.*, case when v.project_id is not null then 1000
                     else coalesce(array_position(${p.groups}::bigint[], v.group_id), 0) end as rank
      from ci_variables v
     where (v.project_id = ${p.project_id} or v.group_id = any(${p.groups}::bigint[])
            or (v.project_id is null and v.group_id is null))
       and (${p.protected} or not v.protected)
     order by rank, v.id`,
)

/** Where a job runs: its project, and whether its ref is protected, which opens protected variables. */
export interface VariableScope {
  readonly project: { readonly id: number; readonly traversal_ids: readonly number[] }
  readonly protected: boolean
}

/**
 * Reads the variables of instance, groups and project once. The nearer owner wins: project, nearest group, root group,
 * instance; among scopes of one owner, the most specific that matches the environment.
 */
export async function secretsFor(
  { db, vault }: { readonly db: Db; readonly vault: Pick<Instance['vault'], 'open'> },
  { project, protected: isProtected }: VariableScope,
): Promise<SecretsOf> {
  const rows = await db.rows(visible, {
    project_id: project.id,
    groups: project.traversal_ids,
    protected: isProtected,
  })
  const opened = rows.map((row) => ({ row, variable: variableOf(row, vault.open(row.sealed_value)) }))
  return (environment) => {
    const chosen = new Map<string, { readonly row: Row; readonly variable: SecretVariable }>()
    for (const one of opened) {
      if (!matchesScope(one.row.environment_scope, environment)) continue
      const known = chosen.get(one.row.key)
      if (known === undefined || isStronger(one.row, known.row)) chosen.set(one.row.key, one)
    }
    return [...chosen.values()].map(({ variable }) => variable)
  }
}

/** The variables that one job sees, the weakest first. */
export const variablesFor = async (
  instance: Parameters<typeof secretsFor>[0],
  scope: VariableScope,
  environment: string | null,
): Promise<readonly SecretVariable[]> => (await secretsFor(instance, scope))(environment)

const variableOf = ({ key, variable_type, raw, masked }: Row, value: string): SecretVariable => ({
  key,
  value,
  masked,
  ...(raw && { raw }),
  ...(variable_type === 'file' && { file: true }),
})

/** Whether `*` in the scope can stand for the rest of the environment's name. Without an environment only `*` itself matches. */
export function matchesScope(scope: string, environment: string | null): boolean {
  if (scope === '*') return true
  if (environment === null) return false
  const [first = '', ...parts] = scope.split('*')
  if (parts.length === 0) return first === environment
  const last = parts.pop() ?? ''
  if (!environment.startsWith(first)) return false
  let at = first.length
  for (const part of parts) {
    const found = environment.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return environment.length - last.length >= at && environment.endsWith(last)
}

const literals = (scope: string): number => scope.replaceAll('*', '').length
/** A scope without a wildcard is the most specific; then the one with more letters. */
function isStronger(row: Row, known: Row): boolean {
  if (row.rank !== known.rank) return row.rank > known.rank
  const [exact, knownExact] = [!row.environment_scope.includes('*'), !known.environment_scope.includes('*')]
  if (exact !== knownExact) return exact
  return literals(row.environment_scope) > literals(known.environment_scope)
}
