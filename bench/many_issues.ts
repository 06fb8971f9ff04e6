import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { create as keepToken, makeToken } from '../src/access/tokens.ts'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import * as groups from '../src/core/groups.ts'
import { setInGroup } from '../src/core/members.ts'
import { ROLES } from '../src/core/roles.ts'
import * as users from '../src/core/users.ts'
import { openInstance } from '../src/open.ts'

// Each page of a list of issues in a project of 1,000 beside the same page in one of a million:
// `node --import tsx bench/many_issues.ts [issues] [rounds] [page]`.

const MANY = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = Number(process.argv[3] ?? 15)
const FEW = 1_000

const dataDir = await mkdtemp(join(tmpdir(), 'guildhall-many-'))
const config = readConfig({ PATH: process.env['PATH'], GUILDHALL_DATA_DIR: dataDir })
const log = pino({ level: 'silent' })
const opened = await openInstance(config, { log })
const { app } = createApp(opened, { log })
await app.ready()

/** Project 1 has few, project 2 has many; what stands for one in ten, in a hundred, and for a handful, is in both. */
const records = (project: number, count: number): string => `
  set session_replication_role = replica;
  create temporary table fresh as
    select nextval('noteables_id') as id, n from generate_series(1, ${count}) n;
  insert into noteables (id, kind) select id, 'issue' from fresh;
  insert into milestones (iid, project_id, title)
    select n, ${project}, 'v' || n from generate_series(1, 50) n;
  insert into labels (project_id, title, color) select ${project}, 'label ' || n, '#112233' from generate_series(1, 30) n;
  insert into issues (id, iid, project_id, author_id, title, description, state, confidential, milestone_id, weight,
                      due_date, created_at, updated_at)
    select f.id, f.n, ${project}, 1 + f.n % 100, 'Issue ' || md5(f.n::text) || case when f.n % (${count} / 20) = 0 then ' capsized' else '' end,
           'What is wrong with ' || f.n || ', in a sentence or so.',
           case f.n % 3 when 0 then 'closed' else 'opened' end, f.n % 50 = 0,
           case when f.n % 10 < 3 then (select min(id) from milestones where project_id = ${project}) + f.n % 10 end,
           f.n % 9, case when f.n % 4 = 0 then date '2026-01-01' + f.n % 400 end,
           now() - (${count} - f.n) * interval '1 second', now() - (f.n::bigint * 7919 % ${count}) * interval '1 second'
      from fresh f;
  insert into label_links (label_id, noteable_id, issue_project_id, issue_created_at, issue_state, issue_confidential)
    select (select min(id) from labels where project_id = ${project}) + at, f.id, i.project_id, i.created_at, i.state, i.confidential
      from fresh f join issues i on i.id = f.id,
      (values (0, 2), (1, 10), (2, 100), (3, ${count} / 20)) as k (at, every) where f.n % k.every = 0;
  insert into issue_assignees select f.id, 1 + n % 97, i.project_id, i.created_at, i.state, i.confidential
    from fresh f join issues i on i.id = f.id where n % 2 = 0;
  insert into issue_assignees select f.id, 99, i.project_id, i.created_at, i.state, i.confidential
    from fresh f join issues i on i.id = f.id where n % (${count} / 20) = 0;
  drop table fresh;
  set session_replication_role = origin;`

/** Indexes are built after the rows are there: a tenth of the time. */
const loaded = (load: string): string => `
  set maintenance_work_mem = '256MB';
  create temporary table built as
    select indexdef, schemaname || '.' || indexname as name from pg_indexes
     where tablename in ('issues', 'label_links', 'issue_assignees')
       and indexname not in (select conname from pg_constraint);
  do $do$ declare one text; begin for one in select name from built loop execute 'drop index ' || one; end loop; end $do$;
  ${load}
  do $do$ declare one text; begin for one in select indexdef from built loop execute one; end loop; end $do$;
  drop table built;`

async function fill(): Promise<{ readonly planner: string; readonly guest: string; readonly place: number }> {
  const { db, vault } = opened.instance
  const tokens: string[] = []
  const place = await db.transaction(async (tx) => {
    const values = { parent: undefined, name: 'many', path: 'many', visibility: 'public' as const }
    const group = await groups.create(tx, { ...values, runners_token: vault.seal('none') })
    for (let i = 1; i <= 100; i++)
      await users.create(tx, {
        username: `u${i}`,
        name: `U ${i}`,
        email: `u${i}@bench.example`,
        admin: false,
      })
    return group.id
  })
  const people = await opened.client.pool.query<{ id: number }>('select id from users order by id')
  for (const [at, role] of [
    [1, 'planner'],
    [2, 'guest'],
  ] as const) {
    const user_id = people.rows[at]?.id ?? 0
    const token = makeToken('glpat-')
    await keepToken(db, { user_id, name: 'bench', token, scopes: ['api'], expires_at: null })
    await setInGroup(db, { user_id, namespace_id: place, access_level: ROLES[role], expires_at: null })
    tokens.push(token)
  }
  await db.script(`insert into projects (id, namespace_id, name, path, full_path, visibility) overriding system value
    select n, ${place}, 'p' || n, 'p' || n, 'many/p' || n, 'public' from generate_series(1, 2) n`)
  const client = await opened.client.pool.connect()
  await client.query('set statement_timeout = 0')
  for (const [project, count] of [
    [1, FEW],
    [2, MANY],
  ] as const) {
    const began = performance.now()
    await client.query(patient(loaded(records(project, count))))
    console.log(`${count} issues in ${Math.round((performance.now() - began) / 1000)} s`)
  }
  await client.query(patient('vacuum analyze'))
  client.release()
  const [planner = '', guest = ''] = tokens
  return { planner, guest, place }
}

/** A statement that may take an hour. */
const patient = (text: string): { text: string } => Object.assign({ text }, { query_timeout: 3_600_000 })

const ONLY = process.argv[4]
const PAGES = [
  '',
  'page=50',
  'order_by=updated_at',
  'order_by=title&sort=asc',
  'order_by=due_date',
  'order_by=due_date&sort=asc',
  'order_by=weight',
  'order_by=popularity',
  'state=opened',
  'state=closed&order_by=updated_at',
  'labels=label 1',
  'labels=label 2',
  'labels=label 3',
  'labels=label 4',
  'labels=label 1,label 2',
  'labels=None',
  'not[labels]=label 1',
  'labels=label 2&state=opened',
  'milestone=v2',
  'milestone=v2&state=opened',
  'milestone=None',
  'author_id=7',
  'author_username=u6',
  'assignee_id=5',
  'assignee_id=99',
  'assignee_id=None',
  'search=capsized',
  'search=ab12c',
  'search=issue',
  'iids[]=5&iids[]=77',
  'created_after=2020-01-01',
  'weight=3',
].filter((page) => ONLY === undefined || page === ONLY)

async function time(path: string, token: string): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now()
    const { statusCode, body } = await app.inject({
      url: `/api/v4${path}`,
      headers: { 'private-token': token },
    })
    times.push(performance.now() - began)
    if (statusCode !== 200) throw new Error(`${statusCode} ${path} ${body}`)
  }
  return Math.min(...times)
}

const { planner, guest, place } = await fill()
for (const [who, token] of [
  ['planner', planner],
  ['guest', guest],
] as const)
  for (const page of PAGES) {
    const few = await time(`/projects/1/issues?${page}`, token)
    const many = await time(`/projects/2/issues?${page}`, token)
    const row = [few.toFixed(1), many.toFixed(1), (many / few).toFixed(1)].map((cell) => cell.padStart(8))
    console.log(`${who.padEnd(8)} ${(page || 'as it comes').padEnd(34)} ${row.join('')}`)
  }
for (const page of ['', 'state=opened', 'labels=label 2'])
  console.log(
    `group    ${(page || 'as it comes').padEnd(34)} ${(await time(`/groups/${place}/issues?${page}`, planner)).toFixed(1)}`,
  )
await app.close()
await opened.close()
await rm(dataDir, { recursive: true, force: true })
