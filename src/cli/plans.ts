import type { Command } from 'commander'
import { sql } from 'kysely'
import { PLANS, type PlanName } from '../core/settings/plans.ts'
import { findByPath } from '../core/places/groups.ts'
import { statement, type Slots } from '../db/statement.ts'
import { keysOf } from '../http/params/schema.ts'
import { Refusal, command, family, withInstance } from './command.ts'
import { oneOf } from './words.ts'

const NAMES = keysOf(PLANS)

const update = statement(
  (p: Slots<{ id: number; plan: string }>) => sql`
    update namespaces set plan = ${p.plan}, updated_at = now() where id = ${p.id} and parent_id is null`,
)

interface Options {
  readonly namespace: string
  readonly plan: PlanName
}

/** Commands about the plans of namespaces, which decide what is open there on the hosted offering. */
export function addPlans(program: Command): void {
  const parent = family(program, 'plan', 'Plans of top-level namespaces, on the hosted offering')
  command({ parent, name: 'set', description: 'give a namespace a plan', under: 'Groups and projects' })
    .requiredOption('--namespace <path>', 'the path of a top-level group or of a user')
    .requiredOption('--plan <plan>', `one of ${NAMES.join(', ')}`, (given) => oneOf(NAMES, given, 'plan'))
    .action(({ namespace: path, plan, ...options }: Options) =>
      withInstance(options, async ({ instance: { db } }, { say }) => {
        const found = await findByPath(db, path)
        if (found === undefined) throw new Refusal(`there is no namespace "${path}"`)
        if ((await db.run(update, { id: found.id, plan })) === 0)
          throw new Refusal(`"${path}" has the plan of the namespace at its top`)
        say({ namespace: found.full_path, plan }, `${found.full_path} has the plan ${plan}.`)
      }),
    )
}
