import { Option, type Command } from 'commander'
import { listAudit, type AuditRow } from '../core/settings/audit_log.ts'
import { readId } from './alert_integrations.ts'
import { command, withInstance } from './command.ts'
import { linesOrNone, oneLine } from './printable.ts'

const lineOf = ({ id, created_at, event_type, entity_type, entity_id, details }: AuditRow): string => {
  const { author_name: author, target_details: target, entity_path: path, as: role } = details
  const words = [
    path ?? `${entity_type} ${entity_id}`,
    target,
    role,
    typeof author === 'string' ? `by ${author}` : undefined,
  ]
  return [id, created_at.toISOString(), event_type, ...words.filter((word) => word !== undefined)]
    .map(String)
    .map(oneLine)
    .join('  ')
}

interface AuditOptions {
  readonly entityType?: 'User' | 'Group' | 'Project'
  readonly entityId?: number
  readonly limit: number
}

/** The command that shows the audit log. */
export function addAudit(program: Command): void {
  command({
    parent: program,
    name: 'audit',
    description: 'show the audit log, the newest first',
    under: 'People',
  })
    .addOption(new Option('--entity-type <type>', 'of these alone').choices(['User', 'Group', 'Project']))
    .option('--entity-id <id>', 'of one of them', readId)
    .option('--limit <number>', 'no more than these', readId, 100)
    .action(({ entityType: entity_type, entityId: entity_id, limit, ...options }: AuditOptions) =>
      withInstance({ ...options }, async ({ instance: { db } }, { say }) => {
        const { items } = await listAudit(db, { entity_type, entity_id }, { limit, offset: 0 })
        say(items, linesOrNone(items.map(lineOf)))
      }),
    )
}
