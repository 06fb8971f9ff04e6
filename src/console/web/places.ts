import { link, type Ask, type Crumb, type Page, type Reply, type Tab, type View } from './page.ts'
import type { Group, Project } from './records.ts'

/** A request for a page of a project that the viewer may see. */
export type InProject = Ask & { readonly project: Project; readonly at: Readonly<Record<string, string>> }
export type InGroup = Ask & { readonly group: Group }

/** The address of a page of a project: `of(project, 'issues', 3)`. */
export const of = (
  { path_with_namespace: path }: Pick<Project, 'path_with_namespace'>,
  ...rest: readonly (string | number)[]
): string => (rest.length === 0 ? link(path) : link(path, '-', ...rest))
export const ofGroup = (
  { full_path: path }: Pick<Group, 'full_path'>,
  ...rest: readonly (string | number)[]
): string => (rest.length === 0 ? link('groups', path) : link('groups', path, '-', ...rest))

function crumbsOf(fullPath: string, isUser: boolean): Crumb[] {
  const parts = fullPath.split('/')
  return parts.map((text, i) => ({
    text,
    href: isUser ? link(text) : link('groups', ...parts.slice(0, i + 1)),
  }))
}

const projectTabs = (project: Project): Tab[] => [
  { id: 'code', text: 'Code', href: of(project) },
  { id: 'commits', text: 'Commits', href: of(project, 'commits', project.default_branch ?? 'HEAD') },
  { id: 'branches', text: 'Branches', href: of(project, 'branches') },
  { id: 'issues', text: 'Issues', href: of(project, 'issues'), count: project.open_issues_count },
  { id: 'merge_requests', text: 'Merge requests', href: of(project, 'merge_requests') },
  { id: 'pipelines', text: 'Pipelines', href: of(project, 'pipelines') },
  { id: 'environments', text: 'Environments', href: of(project, 'environments') },
  { id: 'milestones', text: 'Milestones', href: of(project, 'milestones') },
  { id: 'labels', text: 'Labels', href: of(project, 'labels') },
  { id: 'packages', text: 'Packages', href: of(project, 'packages') },
  { id: 'snippets', text: 'Snippets', href: of(project, 'snippets') },
  { id: 'members', text: 'Members', href: of(project, 'project_members') },
]
const groupTabs = (group: Group): Tab[] => [
  { id: 'home', text: 'Projects', href: ofGroup(group) },
  { id: 'issues', text: 'Issues', href: ofGroup(group, 'issues') },
  { id: 'merge_requests', text: 'Merge requests', href: ofGroup(group, 'merge_requests') },
  { id: 'milestones', text: 'Milestones', href: ofGroup(group, 'milestones') },
  { id: 'iterations', text: 'Iterations', href: ofGroup(group, 'iterations') },
  { id: 'epics', text: 'Epics', href: ofGroup(group, 'epics') },
  { id: 'labels', text: 'Labels', href: ofGroup(group, 'labels') },
  { id: 'packages', text: 'Packages', href: ofGroup(group, 'packages') },
  { id: 'members', text: 'Members', href: ofGroup(group, 'group_members') },
]

const isView = (reply: Reply): reply is View => 'main' in reply

/** A page of a project: the project is read first, as its viewer; its name and tabs stand above the page. */
export const inProject =
  (tab: string, page: (ask: InProject) => Promise<Reply>): Page =>
  async (ask) => {
    const project = await ask.call.one<Project>('getProject', { id: ask.at['place'] })
    const reply = await page({ ...ask, project })
    if (!isView(reply)) return reply
    const { namespace } = project
    const crumbs = [
      ...crumbsOf(namespace.full_path, namespace.kind === 'user'),
      { text: project.name, href: of(project) },
    ]
    return { ...reply, title: `${reply.title} · ${project.name}`, crumbs, tabs: projectTabs(project), tab }
  }

/** The same of a group. */
export const inGroup =
  (tab: string, page: (ask: InGroup) => Promise<Reply>): Page =>
  async (ask) => {
    const group = await ask.call.one<Group>('getGroup', { id: ask.at['place'], with_projects: false })
    const reply = await page({ ...ask, group })
    if (!isView(reply)) return reply
    return {
      ...reply,
      title: `${reply.title} · ${group.name}`,
      crumbs: crumbsOf(group.full_path, false),
      tabs: groupTabs(group),
      tab,
    }
  }
