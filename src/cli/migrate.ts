import type { Command } from 'commander'
import { command, withInstance } from './command.ts'
import { statement } from '../db/statement.ts'
import { sql } from 'kysely'

const version = statement(
  () => sql<{ version: number }>`select max(version) as version from schema_migrations`,
)

export function addMigrate(program: Command): void {
  command(program, 'migrate', 'bring the database up to date and say where it is').action((options: object) =>
    // Opening the instance migrates; what is left is to tell.
    withInstance({ ...options }, async ({ instance }, { say }) => {
      const row = await instance.db.one(version, {})
      say({ version: row?.version ?? 0 }, `The database is at migration ${row?.version ?? 0}.`)
    }),
  )
}
