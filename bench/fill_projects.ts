import { create as keepToken, makeToken } from '../src/access/tokens.ts'
import { setInGroup, setInProject } from '../src/core/people/members.ts'
import { ROLES, type RoleName } from '../src/core/sight/roles.ts'
import * as users from '../src/core/people/users.ts'
import type { Opened } from '../src/open.ts'

// One instance with `count` projects, and as many people, groups, members of one group and members of one project, or fewer
// `others`. What stands for one in ten, in a hundred, and for twenty, is there whatever the count.

/** The groups and projects that pages are asked of, by their addresses. */
export interface Places {
  /** With half of everything below it. */
  readonly big: number
  /** With as many members as there are people, and one project with as many of its own. */
  readonly crowd: number
  readonly crowded: number
  /** The user who is a member of one project in twenty. */
  readonly maker: number
}
export interface Filled extends Places {
  readonly tokens: Readonly<Record<'admin' | 'few' | 'top', string>>
}

const VISIBILITY = `case n % 5 when 0 then 'internal' when 1 then 'private' when 3 then 'private' else 'public' end`
const namespaceId = `nextval(pg_get_serial_sequence('namespaces', 'id'))`

const people = (count: number): string => `
  create temporary table folk as
    select nextval(pg_get_serial_sequence('users', 'id')) as id, ${namespaceId} as home, n from generate_series(1, ${count}) n;
  insert into users (id, username, name, email, state, external, user_type, created_at, updated_at) overriding system value
    select id, 'person-' || n || '-' || substr(md5(n::text), 1, 6),
           'Person ' || md5((n * 7)::text) || case when n % (${count} / 20) = 0 then ' Capsized' else '' end,
           'p' || n || '@bench.example', case when n % 10 = 0 then 'blocked' else 'active' end, n % 100 = 0,
           case when n % 50 = 7 then 'project_bot' else 'human' end,
           now() - n * interval '1 second', now() - (n::bigint * 7919 % ${count}) * interval '1 second' from folk;
  insert into user_emails (user_id, email, is_primary, confirmed_at)
    select id, 'p' || n || '@bench.example', true, now() from folk;
  insert into namespaces (id, kind, owner_id, name, path, full_name, full_path, traversal_ids, visibility) overriding system value
    select home, 'user', f.id, u.name, u.username, u.name, u.username, array[home], 'public'
      from folk f join users u on u.id = f.id;`

/** Half below one group, a fifth of those right below it; the others in trees of fifty. */
const groups = (count: number): string =>
  `
  create temporary table trees as
    select ${namespaceId} as id, n, null::bigint as parent, null::bigint[] as line from generate_series(1, ${count}) n;
  create index on trees (n);
  update trees t set parent = o.id from trees o
   where o.n = case when t.n = 1 then null
                    when t.n <= ${count} / 10 then 1
                    when t.n <= ${count} / 2 then 2 + t.n % (${count} / 10 - 1)
                    when t.n % 50 = 0 then null
                    when t.n % 50 <= 7 then t.n - t.n % 50
                    else t.n - t.n % 50 + 1 + t.n % 7 end and o.n > ${count} / 2 - (t.n <= ${count} / 2)::int * ${count};
  with recursive down as (
    select id, array[id] as line from trees where parent is null
    union all select t.id, d.line || t.id from down d join trees t on t.parent = d.id)
  update trees t set line = d.line from down d where d.id = t.id;
  insert into namespaces (id, kind, parent_id, name, path, full_name, full_path, traversal_ids, visibility, created_at)
  overriding system value
    select t.id, 'group', t.parent, 'Group ' || md5(n::text) || case when n % (${count} / 20) = 0 then ' capsized' else '' end,
           'g' || n || '-' || substr(md5(n::text), 1, 6), 'Group',
           (select string_agg('g' || o.n || '-' || substr(md5(o.n::text), 1, 6), '/' order by at)
              from unnest(t.line) with ordinality l (id, at) join numbers o on o.id = l.id),
           t.line, case when n = 1 then 'public' else ${VISIBILITY} end, now() - n * interval '1 second' from trees t;`.replace(
    'insert into namespaces',
    'create temporary table numbers as select id, n from trees;\n  create index on numbers (id);\n  insert into namespaces',
  )

/** A tenth right in the big group, four tenths below it, a tenth with people, half of those with one; the rest elsewhere. */
const projects = (count: number, others: number): string => `
  create temporary table work as
    select nextval(pg_get_serial_sequence('projects', 'id')) as id, n,
           case when n % 10 = 0 then (select id from trees where n = 1)
                when n % 20 = 1 then (select home from folk where n = 1)
                when n % 20 = 11 then (select home from folk f where f.n = 1 + (w.n - 1) % ${others})
                when n % 10 < 6 then (select id from trees t where t.n = 1 + w.n / 2 % (${others} / 2))
                else (select id from trees t where t.n = ${others} / 2 + w.n / 2 % (${others} / 2)) end as home
      from generate_series(1, ${count}) as w (n);
  insert into projects (id, namespace_id, creator_id, name, path, full_path, description, visibility, archived, topics,
                        settings, star_count, forked_from_project_id, created_at, updated_at, last_activity_at)
  overriding system value
    select w.id, w.home, 1, 'Project ' || md5(w.n::text) || case when w.n % (${count} / 20) = 0 then ' capsized' else '' end,
           'p' || w.n || '-' || substr(md5(w.n::text), 1, 6), h.full_path || '/p' || w.n || '-' || substr(md5(w.n::text), 1, 6),
           'What project ' || w.n || ' is about, in a sentence or so.', ${VISIBILITY.replaceAll('n %', 'w.n %')}, w.n % 20 = 3,
           array['topic ' || w.n % 50] || case when w.n % (${count} / 20) = 0 then array['rare'] else '{}' end,
           case when w.n % 10 = 4 then '{"issues_enabled":false,"merge_requests_enabled":false}' else '{}' end::jsonb,
           w.n::bigint * 7919 % 1000, case when w.n % 10 = 9 then (select min(id) from work) end,
           now() - (${count} - w.n) * interval '1 second', now() - (w.n::bigint * 7919 % ${count}) * interval '1 second',
           now() - (w.n::bigint * 6007 % ${count}) * interval '1 second'
      from work w join namespaces h on h.id = w.home;`

/** Callers hold nothing of this but what they are given. Two groups for each of the others, and one project. */
const members = (count: number, others: number): string => `
  create temporary table places as
    select (select id from trees where n = 1) as big, (select max(id) from trees where n = ${others} / 2 + 4) as crowd,
           (select max(id) from work where home = (select max(id) from trees where n = ${others} / 2 + 4)) as crowded,
           (select id from folk where n = 1) as maker;
  insert into members (user_id, namespace_id, access_level) select f.id, p.crowd, 30 from folk f, places p;
  insert into members (user_id, project_id, access_level) select f.id, p.crowded, 20 from folk f, places p;
  insert into members (user_id, namespace_id, access_level)
    select f.id, t.id, 30 from folk f join trees t on t.n = 1 + (f.n::bigint * 7919) % ${others} on conflict do nothing;
  insert into members (user_id, project_id, access_level)
    select f.id, w.id, 30 from folk f join work w on w.n = 1 + (f.n::bigint * 6007) % ${count}
     where f.n % 3 = 0 on conflict do nothing;
  insert into project_stars (user_id, project_id)
    select f.id, w.id from folk f join work w on w.n = 1 + (f.n::bigint * 104729) % ${count};
  insert into project_group_links (project_id, group_id, group_access)
    select w.id, p.big, 20 from work w, places p where w.n % (${count} / 20) = 7;`

/** A statement that may take an hour. */
const patient = (text: string): { text: string } => Object.assign({ text }, { query_timeout: 3_600_000 })

export async function fill(
  { instance: { db }, client }: Opened,
  count: number,
  others: number,
): Promise<Filled> {
  const made: number[] = []
  for (const username of ['admin', 'few', 'top']) {
    const email = `${username}@bench.example`
    made.push((await users.create(db, { username, name: username, email, admin: username === 'admin' })).id)
  }
  const [admin = 0, few = 0, top = 0] = made
  const pool = await client.pool.connect()
  const rows = await (async () => {
    await pool.query('set statement_timeout = 0')
    for (const load of [people(others), groups(others), projects(count, others), members(count, others)])
      await pool.query(patient(`set session_replication_role = replica; ${load}`))
    await pool.query('set session_replication_role = origin')
    await pool.query(patient('vacuum analyze'))
    return pool.query<Places & { group: number; project: number }>(
      `select p.*, (select id from trees where n = ${others} / 2 + 58) as group, (select max(id) from work) - 2 as project from places p`,
    )
  })()
  pool.release()
  const [places] = rows.rows
  if (places === undefined) throw new Error('nothing was made')
  const role = (name: RoleName) => ({ access_level: ROLES[name], expires_at: null })
  await setInGroup(db, { user_id: top, namespace_id: places.big, ...role('developer') })
  await setInGroup(db, { user_id: few, namespace_id: places.group, ...role('owner') })
  await setInProject(db, { user_id: few, project_id: places.project, ...role('developer') })
  for (const user_id of [few, top])
    await db.script(`insert into project_stars (user_id, project_id)
      select ${user_id}, id from projects order by id limit 20`)
  const tokenOf = async (user_id: number): Promise<string> => {
    const token = makeToken('glpat-')
    await keepToken(db, { user_id, name: 'bench', token, scopes: ['api'], expires_at: null })
    return token
  }
  const tokens = { admin: await tokenOf(admin), few: await tokenOf(few), top: await tokenOf(top) }
  return { ...places, tokens }
}
