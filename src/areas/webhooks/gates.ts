import type { Group } from '../../core/places/groups.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Gate } from '../../http/gate.ts'
import { noSuchRecord } from '../../http/problems.ts'
import type { Owner } from './store.ts'

type Owns<Needs extends object> = Gate<'checks', never, Needs, { readonly owner: Owner }>

export const ofProject: Owns<{ project: Project }> = {
  kind: 'checks',
  says: 'a project',
  refuses: noSuchRecord,
  pass: ({ project }) => ({ owner: { kind: 'project', id: project.id } }),
}
export const ofGroup: Owns<{ group: Group }> = {
  kind: 'checks',
  says: 'a group',
  refuses: noSuchRecord,
  pass: ({ group }) => ({ owner: { kind: 'group', id: group.id } }),
}
export const ofInstance: Owns<object> = {
  kind: 'checks',
  says: 'the instance',
  refuses: noSuchRecord,
  pass: () => ({ owner: { kind: 'system', id: 0 } }),
}
