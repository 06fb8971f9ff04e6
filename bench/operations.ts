import { TALKED_OF } from './fill_conversation.ts'
import type { Filled } from './fill.ts'

export interface Reading {
  readonly name: string
  readonly kind: 'record' | 'list'
  /** Below `/api/v4`. */
  readonly path: string
}

/** The measured operations: the reads that clients make most. */
export function readings({ labelled, group, milestone, project }: Filled, sha: string): Reading[] {
  const { id, full_path } = project
  const commits = `repository/commits`
  return [
    { name: 'one group, with its projects', kind: 'record', path: `/groups/${group}` },
    { name: 'one group, alone', kind: 'record', path: `/groups/${group}?with_projects=false` },
    { name: 'groups', kind: 'list', path: '/groups' },
    { name: 'projects of a group', kind: 'list', path: `/groups/${group}/projects` },
    { name: 'labels, page 1', kind: 'list', path: `/groups/${labelled}/labels?with_counts=true` },
    { name: 'labels, page 500', kind: 'list', path: `/groups/${labelled}/labels?with_counts=true&page=500` },
    { name: 'milestones', kind: 'list', path: `/groups/${group}/milestones` },
    { name: 'milestones, page 500', kind: 'list', path: `/groups/${group}/milestones?page=500` },
    {
      name: 'burndown events',
      kind: 'list',
      path: `/groups/${group}/milestones/${milestone}/burndown_events`,
    },
    { name: 'issues, page 1', kind: 'list', path: `/projects/${id}/issues` },
    { name: 'issues by label', kind: 'list', path: `/projects/${id}/issues?labels=bug&state=opened` },
    {
      name: 'discussions of an issue',
      kind: 'list',
      path: `/projects/${id}/issues/${TALKED_OF}/discussions`,
    },
    {
      name: 'emoji of an issue',
      kind: 'list',
      path: `/projects/${id}/issues/${TALKED_OF}/award_emoji`,
    },
    { name: 'namespaces', kind: 'list', path: '/namespaces' },
    { name: 'one commit', kind: 'record', path: `/projects/${id}/${commits}/${sha}` },
    {
      name: 'one commit, project by path',
      kind: 'record',
      path: `/projects/${encodeURIComponent(full_path)}/${commits}/${sha}`,
    },
    { name: 'commits', kind: 'list', path: `/projects/${id}/${commits}` },
  ]
}
