import { create as keepToken, makeToken } from '../src/access/tokens.ts'
import * as groups from '../src/core/places/groups.ts'
import { setInGroup } from '../src/core/people/members.ts'
import { ROLES } from '../src/core/sight/roles.ts'
import * as users from '../src/core/people/users.ts'
import type { Db } from '../src/db/db.ts'
import type { Namespace } from '../src/db/schema/tables.ts'
import type { Opened } from '../src/open.ts'

// A group with a project of few issues and another with one of many, alike but for how many there are.

/** The user whose lists are read. */
export interface Filled {
  readonly planner: string
  readonly guest: string
  /** The ids of the two groups and of their large projects. */
  readonly few: { readonly group: number; readonly project: number }
  readonly many: { readonly group: number; readonly project: number }
}

/** Labels for one in ten, one in a hundred and a handful of issues, in every project. */
const records = (project: number, count: number, planner: number): string => `
  set session_replication_role = replica;
  create temporary table fresh as
    select nextval('noteables_id') as id, n from generate_series(1, ${count}) n;
  insert into noteables (id, kind) select id, 'issue' from fresh;
  insert into milestones (iid, project_id, title, start_date, due_date)
    select n, ${project}, 'v' || n, today() - 40 + n, today() - 20 + n from generate_series(1, 50) n;
  insert into labels (project_id, title, color) select ${project}, 'label ' || n, '#112233' from generate_series(1, 30) n;
  insert into label_priorities (project_id, label_id, priority)
    select ${project}, id, id % 5 from labels where project_id = ${project} and title in ('label 1', 'label 2', 'label 4');
  insert into issues (id, iid, project_id, author_id, title, description, state, confidential, milestone_id, weight,
                      due_date, epic_id, iteration_id, issue_type, upvotes, created_at, updated_at)
    select f.id, f.n, ${project}, 1 + f.n % 100, 'Issue ' || md5(f.n::text) || case when f.n % (${count} / 20) = 0 then ' capsized' else '' end,
           'What is wrong with ' || f.n || ', in a sentence or so.',
           case f.n % 3 when 0 then 'closed' else 'opened' end, f.n % 50 = 0,
           case when f.n % 10 < 3 then (select min(id) from milestones where project_id = ${project}) + f.n % 10 end,
           f.n % 9, case when f.n % 4 = 0 then date '2026-01-01' + f.n % 400 end,
           case when f.n % 100 < 5 then (select min(id) from epics) + f.n % 100 end,
           case when f.n % 10 = 0 then (select min(id) from iterations) + f.n % 4 end,
           case when f.n % 40 = 0 then 'incident' else 'issue' end, case when f.n % 10 = 0 then 1 else 0 end,
           now() - (${count} - f.n) * interval '1 second', now() - (f.n::bigint * 7919 % ${count}) * interval '1 second'
      from fresh f;
  insert into label_links (label_id, noteable_id)
    select (select min(id) from labels where project_id = ${project}) + at, f.id
      from fresh f,
      (values (0, 2), (1, 10), (2, 100), (3, ${count} / 20), (4, 7), (5, 101)) as k (at, every) where f.n % k.every = 0;
  insert into label_links (label_id, noteable_id)
    select l.id, f.id from fresh f, labels l where l.title = 'of all' and f.n % 20 = 3;
  insert into issue_assignees (issue_id, user_id) select id, 1 + n % 97 from fresh where n % 2 = 0;
  insert into issue_assignees (issue_id, user_id) select id, 99 from fresh where n % (${count} / 20) = 0
    on conflict do nothing;
  insert into award_emoji (name, user_id, noteable_id)
    select k.name, ${planner}, f.id from fresh f,
      (values ('thumbsup', 10), ('rocket', ${count} / 20)) as k (name, every) where f.n % k.every = 0;
  insert into project_counters (project_id, counts, last) values (${project}, 'issues', ${count});
  drop table fresh;
  set session_replication_role = origin;`

/** Indexes are built after the rows are there: a tenth of the time. */
const loaded = (load: string): string => `
  set maintenance_work_mem = '256MB';
  create temporary table built as
    select indexdef, schemaname || '.' || indexname as name from pg_indexes
     where tablename in ('issues', 'label_links', 'issue_assignees', 'award_emoji')
       and indexname not in (select conname from pg_constraint);
  do $do$ declare one text; begin for one in select name from built loop execute 'drop index ' || one; end loop; end $do$;
  ${load}
  do $do$ declare one text; begin for one in select indexdef from built loop execute one; end loop; end $do$;
  drop table built;`

/** A statement that may take an hour. */
const patient = (text: string): { text: string } => Object.assign({ text }, { query_timeout: 3_600_000 })

async function people(db: Db): Promise<number[]> {
  const ids: number[] = []
  await db.transaction(async (tx) => {
    for (let i = 1; i <= 100; i++) {
      const user = { username: `u${i}`, name: `U ${i}`, email: `u${i}@bench.example`, admin: false }
      ids.push((await users.create(tx, user)).id)
    }
  })
  return ids
}

export async function fill({ instance, client }: Opened, few: number, many: number): Promise<Filled> {
  const { db, vault } = instance
  const ids = await people(db)
  const places = await db.transaction(async (tx) => {
    const make = async (path: string, parent?: Namespace): Promise<Namespace> =>
      groups.create(tx, { parent, name: path, path, visibility: 'public', runners_token: vault.seal('none') })
    const top = await make('all')
    return [top, await make('few', top), await make('many', top)].map(({ id }) => id)
  })
  const [top = 0, ...below] = places
  const tokens: string[] = []
  for (const [at, role] of [
    [0, 'planner'],
    [1, 'guest'],
  ] as const) {
    const user_id = ids[at] ?? 0
    const token = makeToken('glpat-')
    await keepToken(db, { user_id, name: 'bench', token, scopes: ['api'], expires_at: null })
    await setInGroup(db, { user_id, namespace_id: top, access_level: ROLES[role], expires_at: null })
    tokens.push(token)
  }
  await db.script(`
    insert into labels (group_id, title, color) values (${top}, 'of all', '#112233');
    insert into epics (iid, group_id, title) select n, ${top}, 'Epic ' || n from generate_series(1, 5) n;
    insert into iteration_cadences (group_id, title) values (${top}, 'weeks');
    insert into iterations (iid, sequence, group_id, iterations_cadence_id, title, start_date, due_date)
      select n, n, ${top}, 1, 'week ' || n, today() + 7 * n, today() + 7 * n + 6 from generate_series(1, 4) n`)
  const found: { group: number; project: number }[] = []
  const connection = await client.pool.connect()
  await connection.query('set statement_timeout = 0')
  for (const [at, count] of [few, many].entries()) {
    const group = below[at] ?? 0
    const made = await connection.query<{ id: number }>(
      `insert into projects (namespace_id, name, path, full_path, visibility)
       select ${group}, 'p' || n, 'p' || n, 'all/g${at}/p' || n, 'public' from generate_series(1, 21) n returning id`,
    )
    const [project = 0, ...small] = made.rows.map(({ id }) => id)
    found.push({ group, project })
    const began = performance.now()
    await connection.query(patient(loaded(records(project, count, ids[0] ?? 0))))
    for (const id of small) await connection.query(records(id, 20, ids[0] ?? 0))
    console.log(`${count} issues in ${Math.round((performance.now() - began) / 1000)} s`)
  }
  await connection.query(patient('vacuum analyze'))
  connection.release()
  const [planner = '', guest = ''] = tokens
  const [fewer = { group: 0, project: 0 }, more = fewer] = found
  return { planner, guest, few: fewer, many: more }
}
