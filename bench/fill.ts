import * as tokens from '../src/access/tokens.ts'
import * as groups from '../src/core/places/groups.ts'
import { createWithRepository } from '../src/core/pushes/import.ts'
import * as members from '../src/core/people/members.ts'
import { ROLES, type RoleName } from '../src/core/sight/roles.ts'
import * as users from '../src/core/people/users.ts'
import type { Db } from '../src/db/db.ts'
import type { Namespace } from '../src/db/schema/tables.ts'
import type { Instance } from '../src/instance.ts'
import { fillConversation } from './fill_conversation.ts'
import { fillPlanning } from './fill_planning.ts'

// A company's worth of records: 100 groups, 10,000 projects, 300 people, 100,000 labels with 300,000 links.

export interface Filled {
  /** Of a user who holds roles on a few groups. */
  readonly token: string
  /** The group of 20,000 labels, and one with a hundred projects. */
  readonly labelled: number
  readonly group: number
  /** One of the 10,000 of that group, with 200 issues. */
  readonly milestone: number
  readonly project: { readonly id: number; readonly full_path: string; readonly branch: string }
}

const VISIBILITIES = ['public', 'internal', 'private'] as const
const PEOPLE = 300
const LEVELS: readonly RoleName[] = ['guest', 'reporter', 'developer', 'maintainer', 'owner']

/** Fills a fresh instance. `source` is the repository of one project. */
export async function fill(instance: Instance, source: string): Promise<Filled> {
  const { db } = instance
  const made = await db.transaction((tx) => createGroups(tx, instance))
  const [labelled, group] = made
  if (labelled === undefined || group === undefined) throw new Error('no groups were made')
  const reader = await db.transaction((tx) => createPeople(tx, made))
  await db.script(records(labelled.id))
  const token = tokens.makeToken('glpat-')
  await tokens.create(db, { user_id: reader, name: 'bench', token, scopes: ['read_api'], expires_at: null })
  const values = { creator_id: null, name: 'history', path: 'history', visibility: group.visibility }
  const project = await createWithRepository(instance, { ...values, namespace: group }, { from: source })
  const milestone = await fillPlanning(db, group.id, project.id)
  await db.script(issuesIn(project.id))
  await fillConversation(db, project.id)
  await db.script('vacuum analyze')
  const { id, full_path, default_branch } = project
  return {
    token,
    labelled: labelled.id,
    group: group.id,
    milestone,
    project: { id, full_path, branch: default_branch ?? '' },
  }
}

/** Ten trees of three levels. */
async function createGroups(tx: Db, { vault }: Instance): Promise<Namespace[]> {
  const made: Namespace[] = []
  const add = async (
    path: string,
    parent: Namespace | undefined,
    below: readonly number[],
  ): Promise<void> => {
    const visibility = parent?.visibility ?? VISIBILITIES[made.length % VISIBILITIES.length] ?? 'public'
    const runners_token = vault.seal('GR1348941-bench')
    const group = await groups.create(tx, { parent, name: path, path, visibility, runners_token })
    made.push(group)
    const [width = 0, ...rest] = below
    for (let i = 1; i <= width; i++) await add(`${path}-${i}`, group, rest)
  }
  for (let i = 1; i <= 10; i++) await add(`division-${i}`, undefined, [3, 2])
  return made
}

/** People with two memberships each; the first one also belongs to where the reading is done. */
async function createPeople(tx: Db, made: readonly Namespace[]): Promise<number> {
  const ids: number[] = []
  for (let i = 0; i < PEOPLE; i++) {
    const username = `person-${i}`
    const email = `${username}@bench.example`
    const { id } = await users.create(tx, { username, name: `Person ${i}`, email, admin: false })
    ids.push(id)
    const access_level = ROLES[LEVELS[i % LEVELS.length] ?? 'guest']
    for (const place of [made[i % made.length], made[(i * 7 + 3) % made.length]])
      if (place !== undefined)
        await members.setInGroup(tx, { user_id: id, namespace_id: place.id, access_level, expires_at: null })
  }
  const [reader = 0] = ids
  for (const place of made.slice(0, 2))
    await members.setInGroup(tx, {
      user_id: reader,
      namespace_id: place.id,
      access_level: ROLES.developer,
      expires_at: null,
    })
  return reader
}

const records = (labelled: number): string => `
  begin;
  create temporary table homes on commit drop as
    select id, full_path, visibility, row_number() over (order by id) - 1 as at from namespaces where kind = 'group';
  insert into projects (namespace_id, name, path, full_path, visibility, default_branch, description, created_at)
    select h.id, 'Project ' || i, 'project-' || i, h.full_path || '/project-' || i, h.visibility, 'main',
           'What project ' || i || ' is about, in a sentence or so.', now() - i * interval '1 minute'
      from generate_series(0, 9999) i join homes h on h.at = i % 100;
  create temporary table places on commit drop as select id, row_number() over (order by id) - 1 as at from projects;
  create temporary table people on commit drop as select id, row_number() over (order by id) - 1 as at from users;
  insert into issues (iid, project_id, author_id, title, state, confidential)
    select i / 10000 + 1, p.id, u.id, 'Issue ' || i, case i % 3 when 0 then 'closed' else 'opened' end, i % 20 = 0
      from generate_series(0, 49999) i join places p on p.at = i % 10000
      join people u on u.at = i % ${PEOPLE};
  insert into merge_requests (iid, project_id, author_id, title, state)
    select i / 10000 + 1, p.id, u.id, 'Change ' || i, case i % 3 when 0 then 'merged' else 'opened' end
      from generate_series(0, 19999) i join places p on p.at = i % 10000
      join people u on u.at = i % ${PEOPLE};
  insert into labels (group_id, title, color, description)
    select case when i < 20000 then ${labelled} else h.id end, 'label ' || lpad(i::text, 6, '0'),
           '#' || lpad(upper(to_hex(i * 997 % 16777216)), 6, '0'), 'What label ' || i || ' says'
      from generate_series(0, 99999) i join homes h on h.at = 1 + i % 99;
  create temporary table marks on commit drop as select id, row_number() over (order by id) - 1 as at from labels;
  create temporary table topics on commit drop as select id, row_number() over (order by id) - 1 as at from issues;
  create temporary table changes on commit drop as
    select id, row_number() over (order by id) - 1 as at from merge_requests;
  insert into label_links (label_id, noteable_id)
    select m.id, t.id from marks m, generate_series(0, 1) k
      join topics t on true where t.at = (m.at * 7 + k * 13) % 50000;
  insert into label_links (label_id, noteable_id)
    select m.id, c.id from marks m join changes c on c.at = m.at * 11 % 20000;
  commit;`

/** 10,000 issues of one project; `bug` is on each tenth. */
const issuesIn = (project: number): string => `
  begin;
  insert into issues (iid, project_id, author_id, title, description, state, confidential, created_at)
    select n, ${project}, (select min(id) from users), 'Issue ' || n, 'What is wrong with ' || n,
           case n % 3 when 0 then 'closed' else 'opened' end, n % 50 = 0, now() - n * interval '1 minute'
      from generate_series(1, 10000) n;
  insert into labels (project_id, title, color) values (${project}, 'bug', '#CC0000');
  insert into label_links (label_id, noteable_id)
    select l.id, i.id from labels l, issues i
     where l.project_id = ${project} and i.project_id = ${project} and i.iid % 10 = 0;
  commit;`
