import type { Command } from 'commander'
import { findInconsistencies } from '../ci/check.ts'
import { Refusal, command, family, withInstance } from './command.ts'

/** Commands about pipelines. */
export function addPipelines(program: Command): void {
  const parent = family(program, 'ci', 'Pipelines of all projects')
  command({
    parent,
    name: 'check',
    description: 'look for jammed groups and wrong states',
    under: 'Pipelines',
  }).action(async (options: object) =>
    withInstance({ ...options }, async ({ instance }, { say }) => {
      const found = await findInconsistencies(instance.db)
      const lines = found.map(({ kind, id, project_id }) => `${kind} ${id} of project ${project_id}`)
      if (found.length > 0) throw new Refusal(lines.join('\n'))
      say({ inconsistencies: 0 }, 'Pipelines, jobs and resource groups are consistent.')
    }),
  )
}
