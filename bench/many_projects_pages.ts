import type { Filled } from './fill_projects.ts'

// The pages that are asked of lists of projects, groups, people and members.

const ORDERS = ['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at', 'star_count']
const SEARCHES = ['capsized', 'ab12c', 'project', 'ob', 'nowhere at all']
const PROJECTS = [
  '',
  'per_page=100',
  'page=50',
  ...ORDERS.flatMap((order) => [`order_by=${order}`, `order_by=${order}&sort=asc`]),
  'order_by=similarity',
  'order_by=id&pagination=keyset',
  'simple=true',
  'statistics=true',
  'visibility=public',
  'visibility=internal',
  'visibility=private',
  'visibility=private&order_by=name',
  'archived=true',
  'archived=false',
  'owned=true',
  'membership=true',
  'membership=true&order_by=last_activity_at',
  'membership=true&archived=false&order_by=name&sort=asc',
  'min_access_level=30',
  'starred=true',
  ...SEARCHES.map((word) => `search=${word}`),
  ...SEARCHES.map((word) => `search=${word}&order_by=similarity`),
  'search=capsized&membership=true',
  'search=project&membership=true',
  'search=g1-&search_namespaces=true',
  'topic=topic 7',
  'topic=rare',
  'with_issues_enabled=true',
  'with_merge_requests_enabled=true',
  'id_after=500',
  'id_before=500',
  'last_activity_after=2020-01-01',
  'last_activity_before=2020-01-01',
  'updated_after=2020-01-01&order_by=updated_at',
]
const GROUP_PROJECTS = [
  '',
  'page=5',
  'per_page=100',
  'order_by=name&sort=asc',
  'order_by=last_activity_at',
  'search=capsized',
  'search=project',
  'search=project&order_by=similarity',
  'archived=true',
  'archived=false',
  'visibility=private',
  'owned=true',
  'starred=true',
  'with_shared=false',
  'with_issues_enabled=true',
  'min_access_level=30',
]
const GROUPS = [
  '',
  'all_available=true',
  'all_available=true&page=20',
  'all_available=true&per_page=100',
  'order_by=path',
  'order_by=id&sort=desc',
  'owned=true',
  'min_access_level=10',
  'top_level_only=true',
  'top_level_only=true&all_available=true',
  'visibility=public&all_available=true',
  'visibility=private',
  'search=capsized',
  'search=capsized&all_available=true',
  'search=group&all_available=true',
  'search=ab12c&all_available=true',
  'search=ab&all_available=true',
  'search=group&all_available=true&order_by=similarity',
  'skip_groups[]=5',
  'statistics=true',
]
const USERS = [
  '',
  'page=50',
  'per_page=100',
  ...['id', 'name', 'username', 'created_at', 'updated_at'].map((order) => `order_by=${order}`),
  'username=person-5-e4da3b',
  ...['capsized', 'ab12c', 'person', 'rs', 'p500@bench.example'].map((word) => `search=${word}`),
  'search=person&order_by=name',
  ...['active', 'exclude_active', 'blocked', 'humans', 'exclude_humans', 'exclude_internal'].map(on),
  ...['external', 'exclude_external', 'without_project_bots', 'admins', 'without_projects'].map(on),
  'active=true&humans=true',
  'created_after=2020-01-01',
  'created_before=2020-01-01',
]
const NAMESPACES = ['', ...SEARCHES.map((word) => `search=${word}`), 'owned_only=true', 'top_level_only=true']
const MEMBERS = ['', 'page=50', 'per_page=100', 'query=capsized', 'query=ab12c', 'query=person', 'query=rs']
const MORE_MEMBERS = ['query=nobody', 'user_ids[]=5&user_ids[]=77', 'skip_users[]=5']

function on(flag: string): string {
  return `${flag}=true`
}

export type Ask = (world: Filled) => string
const pages = (...lists: (readonly [string, Ask, readonly string[]])[]): { name: string; ask: Ask }[] =>
  lists.flatMap(([name, path, queries]) =>
    queries.map((query) => ({
      name: `${name}${query && `?${query}`}`,
      ask: (here: Filled) => encodeURI(`${path(here)}?${query}`),
    })),
  )
export const everybody = pages(
  ['/projects', () => '/projects', PROJECTS],
  ['/groups/:id/projects', ({ big }) => `/groups/${big}/projects`, GROUP_PROJECTS],
  [
    '/groups/:id/projects?include_subgroups=true',
    ({ big }) => `/groups/${big}/projects?include_subgroups=true&`,
    GROUP_PROJECTS,
  ],
  ['/users/:id/projects', ({ maker }) => `/users/${maker}/projects`, GROUP_PROJECTS.slice(0, 12)],
  ['/groups', () => '/groups', GROUPS],
  ['/groups/:id/subgroups', ({ big }) => `/groups/${big}/subgroups`, GROUPS],
  ['/groups/:id/descendant_groups', ({ big }) => `/groups/${big}/descendant_groups`, GROUPS],
)
export const signedIn = pages(
  ['/users', () => '/users', USERS],
  ['/namespaces', () => '/namespaces', NAMESPACES],
  ['/groups/:id/members', ({ crowd }) => `/groups/${crowd}/members`, [...MEMBERS, ...MORE_MEMBERS]],
  ['/groups/:id/members/all', ({ crowd }) => `/groups/${crowd}/members/all`, [...MEMBERS, ...MORE_MEMBERS]],
  ['/projects/:id/members', ({ crowded }) => `/projects/${crowded}/members`, [...MEMBERS, ...MORE_MEMBERS]],
  [
    '/projects/:id/members/all',
    ({ crowded }) => `/projects/${crowded}/members/all`,
    [...MEMBERS, ...MORE_MEMBERS],
  ],
)
