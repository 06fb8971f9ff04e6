import type { Command } from 'commander'
import { sql } from 'kysely'
import { statement } from '../db/statement.ts'
import { command, withInstance } from './command.ts'

const newest = statement(
  () => sql<{ version: number }>`select max(version) as version from schema_migrations`,
)

export function addMigrate(program: Command): void {
  command({
    parent: program,
    name: 'migrate',
    description: 'bring the database up to date and say where it is; serve does so too',
    under: 'Server',
  }).action((options: object) =>
    // Opening the instance migrates; what is left is to tell.
    withInstance(
      { ...options },
      async ({ instance }, { say }) => {
        const row = await instance.db.one(newest, {})
        say({ version: row?.version ?? 0 }, `The database is at migration ${row?.version ?? 0}.`)
      },
      { makes: true },
    ),
  )
}
