import { Type as t, type Static } from 'typebox'
import { maintainer, project, signedIn } from '../../../access/gates/gates.ts'
import { APPROVAL_SETTINGS } from '../../../core/merge_requests/approvals.ts'
import type { Project } from '../../../core/places/projects.ts'
import { operation } from '../../../http/operation.ts'
import { mergeSettings } from './store.ts'
import { readsMergeRequests } from '../gates.ts'

const flag = (): ReturnType<typeof t.Boolean> => t.Boolean()
const switches = {
  reset_approvals_on_push: flag(),
  merge_requests_author_approval: flag(),
  merge_requests_disable_committers_approval: flag(),
  selective_code_owner_removals: flag(),
  disable_overriding_approvers_per_merge_request: flag(),
  require_password_to_approve: flag(),
}
const ApprovalSettings = t.Object({
  approvers: t.Array(t.Object({})),
  approver_groups: t.Array(t.Object({})),
  approvals_before_merge: t.Integer(),
  ...switches,
})

/** Without approval rules and code owners the other switches have nothing to act on: they are shown as off. */
const present = ({ settings }: Pick<Project, 'settings'>): Static<typeof ApprovalSettings> => {
  const set = (name: keyof typeof APPROVAL_SETTINGS): boolean => {
    const value = settings[name]
    return typeof value === 'boolean' ? value : APPROVAL_SETTINGS[name]
  }
  return {
    approvers: [],
    approver_groups: [],
    approvals_before_merge: 0,
    reset_approvals_on_push: set('reset_approvals_on_push'),
    merge_requests_author_approval: set('merge_requests_author_approval'),
    merge_requests_disable_committers_approval: set('merge_requests_disable_committers_approval'),
    selective_code_owner_removals: false,
    disable_overriding_approvers_per_merge_request: false,
    require_password_to_approve: false,
  }
}

export const getProjectApprovalSettings = operation({
  method: 'GET',
  path: '/projects/:id/approvals',
  summary: 'Get the approval settings of a project',
  published: true,
  gates: [project, signedIn, readsMergeRequests],
  handle: async ({ project }) => present(project),
  returns: ApprovalSettings,
})

export const updateProjectApprovalSettings = operation({
  method: 'POST',
  path: '/projects/:id/approvals',
  summary: 'Change the approval settings of a project',
  published: true,
  params: t.Object(
    {
      approvals_before_merge: t.Optional(t.Integer({ minimum: 0 })),
      ...t.Partial(t.Object(switches)).properties,
    },
    { atLeastOne: ['approvals_before_merge', ...Object.keys(switches)] },
  ),
  gates: [project, signedIn, maintainer],
  handle: async ({ db, project, params }) => {
    const names = Object.keys(APPROVAL_SETTINGS) as (keyof typeof APPROVAL_SETTINGS)[]
    const given = names.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]]))
    const row = await mergeSettings(db, project.id, Object.fromEntries(given) as Record<string, boolean>)
    return present(row)
  },
  returns: ApprovalSettings,
})
