import { Type as t } from 'typebox'
import { allows, loads, type Actor, type Has } from '../../http/gate.ts'
import { forbidden, notFound, type Problem } from '../../http/problems.ts'
import * as runners from './store.ts'
import type { SeenRunner } from './store.ts'

const noRunner = (): Problem => notFound('Runner')
const noAccess = (): Problem => forbidden('No access granted')

/** The runner in the address: what it may be used for is asked behind this. */
export const runner = loads({
  param: 'id',
  type: t.Integer(),
  as: 'runner',
  says: 'a runner',
  missing: noRunner,
  find: ({ db, actor }: Has<{ actor: Actor }>, id) => runners.find(db, id, actor.id),
})

type OnRunner = Has<{ actor: Actor; runner: SeenRunner }>

export const seesRunner = allows({
  says: 'a signed-in user for instance runners, otherwise a manager of the runner',
  refuses: noAccess,
  holds: ({ actor, runner }: OnRunner) =>
    actor.admin || runner.manages || runner.runner_type === 'instance_type',
})

export const managesRunner = allows({
  says: 'an administrator, a Maintainer of one of its projects or an Owner of its group',
  refuses: noAccess,
  holds: ({ actor, runner }: OnRunner) => actor.admin || runner.manages,
})

export const hasOneProject = allows({
  says: 'an administrator, where the runner has several projects',
  refuses: () => forbidden('Runner associated with more than one project'),
  holds: ({ actor, runner }: OnRunner) => actor.admin || runner.projects_count <= 1,
})
