import { Type as t } from 'typebox'
import * as alerts from '../../alerts/reading.ts'
import { findProjectAs } from '../../core/places/project_roles.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Alert } from '../../db/schema/alerts.ts'
import { allows, loads, type Actor, type Has } from '../../http/gate.ts'
import { absent, type Problem } from '../../http/problems.ts'
import type { Row } from './entity.ts'
import * as images from './store.ts'

const noAlert = (): Problem => absent('Alert not found')

/** The published list hides alerts from those who may not see them. */
export const readsImages = allows({
  level: ROLES.developer,
  says: 'at least Developer in the project',
  refuses: noAlert,
  holds: ({ actor, project }: Has<{ actor: Actor; project: Project }>) =>
    actor.admin || project.role >= ROLES.developer,
})

export const alert = loads({
  param: 'alert_iid',
  type: t.Integer(),
  as: 'alert',
  says: 'an alert of the project',
  missing: noAlert,
  find: ({ db, project }: Has<{ project: Project }>, iid) => alerts.find(db, project.id, iid),
})

export const metricImage = loads({
  param: 'metric_image_id',
  type: t.Integer(),
  as: 'image',
  says: 'a metric image of the alert',
  missing: () => absent('Metric image not found'),
  find: ({ db, alert }: Has<{ alert: Alert }>, id) => images.find(db, { alert_id: alert.id, id }),
})

/** An image by its address alone. To everybody who may not see it, it does not exist. */
export const seenImage = loads({
  param: 'metric_image_id',
  type: t.Integer(),
  as: 'image',
  says: 'a metric image of a project in which the caller is at least Developer',
  find: async ({ db, actor }: Has<{ actor: Actor }>, id): Promise<Row | undefined> => {
    const found = await images.findWithProject(db, id)
    const project = found && (await findProjectAs(db, found.project_id, actor.id))
    return project && (actor.admin || project.role >= ROLES.developer) ? found : undefined
  },
})
