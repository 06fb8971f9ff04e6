import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { openTo } from '../../core/sight/roles.ts'

// A world drawn by lot: what lists answer, however they find it, is what the rule says of each group by itself, in order.

let seed = 20_261_122
const draw = (below: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
  return Math.floor((seed / 2 ** 31) * below)
}
interface Caller {
  readonly name: string
  readonly as: Someone | undefined
  readonly admin: boolean
}
const callers: Caller[] = []

/** More than 2,000 below one group, so that who belongs there belongs to more than is looked up one by one. */
const WORLD = `
  create temporary table drawn as
    select 1000 as id, null::int as parent, array[1000] as line union all
    select n, 1000, array[1000, n] from generate_series(1101, 1400) n union all
    select n, 1101 + n % 50, array[1000, 1101 + n % 50, n] from generate_series(2001, 4000) n union all
    select n, null, array[n] from generate_series(5001, 5060) n union all
    select n, 5001 + n % 20, array[5001 + n % 20, n] from generate_series(6001, 6100) n;
  insert into namespaces (id, kind, parent_id, name, path, full_name, full_path, traversal_ids, visibility)
  overriding system value
    select id, 'group', parent, (array['Keel ', 'Of keels ', 'Mast ', 'Anchor '])[1 + id * 7 % 4] || id % 100, 'g' || id, 'x',
           (select string_agg('g' || l, '/' order by at) from unnest(line) with ordinality t (l, at)), line,
           case when id in (1000, 1101) then 'public' else (array['private', 'internal', 'public'])[1 + id * 11 % 3] end
      from drawn;
  update namespaces set name = 'keel' where id in (1101, 5003, 6005);
  update namespaces set path = 'keels-' || id, full_path = full_path || '-keel' where id in (1399, 5004);
  drop table drawn;
  insert into projects (namespace_id, name, path, full_path, visibility)
    select id, 'p', 'p', full_path || '/p', 'private' from namespaces where id in (1101, 2001, 2002, 5001, 6001, 6002)`

const at = sharedWorld(
  async ({ make }) => {
    await make.sql(WORLD)
    const places = [1000, 1101, 1102, 2001, 2051, 2002, 5001, 5002, 5003, 6001, 6021, 6005]
    callers.push({ name: 'nobody', as: undefined, admin: false })
    callers.push({ name: 'an administrator', as: await make.admin(), admin: true })
    for (const i of [0, 2, 4, 6]) {
      const as = await make.user()
      const grants = Array.from(
        { length: i },
        () => `insert into members (user_id, namespace_id, access_level) values
          (${as.id}, ${places[draw(places.length)]}, ${[0, 5, 10, 20, 30, 40, 50][draw(7)]}) on conflict do nothing;
        insert into members (user_id, project_id, access_level)
          select ${as.id}, id, ${[0, 10, 30, 50][draw(4)]} from projects order by id offset ${draw(6)} limit 1
          on conflict do nothing;`,
      )
      if (i === 6) grants.push(`update users set external = true where id = ${as.id};`)
      if (i > 0) await make.sql(grants.join('\n'))
      callers.push({ name: `user ${i}`, as, admin: false })
    }
    const [top, denied] = [await make.user(), await make.user()]
    await make.sql(`insert into members (user_id, namespace_id, access_level) values
      (${top.id}, 1000, 30), (${denied.id}, 1000, 40), (${denied.id}, 1102, 0), (${denied.id}, 5003, 10);
    insert into group_group_links (shared_group_id, shared_with_group_id, group_access)
      values (5002, 5003, 30), (1000, 5003, 20), (1101, 5003, 20)`)
    callers.push({ name: 'a member of the vast group', as: top, admin: false })
    callers.push({ name: 'one with a denial in it', as: denied, admin: false })
    for (const [index, { as }] of callers.entries())
      await make.sql(`create unlogged table ruled_${index} as ${ruled(as?.id ?? null)}`)
    // Plans made as if everything were empty take ten times as long.
    await make.sql('analyze')
  },
  { fresh: true },
)

/** Each group with what the caller holds on it, and whether it belongs there. */
const ruled = (caller: number | null): string => `
  with mine as materialized (select * from grants where user_id = ${caller}),
  inside as materialized (
    select gn.traversal_ids from mine g left join projects gp on gp.id = g.project_id
      join namespaces gn on gn.id = coalesce(g.namespace_id, gp.namespace_id)
     where g.access_level >= 10 and not exists (
       select from mine z where z.access_level = 0 and (z.namespace_id = any(gn.traversal_ids) or z.project_id = g.project_id)))
  select n.*, coalesce(held.role, 0) as role,
         coalesce(held.role >= 5, exists (select from inside i where n.id = any(i.traversal_ids))) as belongs
    from namespaces n, lateral (
      select case when min(g.access_level) = 0 then 0 else max(g.access_level) end as role from mine g
       where g.namespace_id = any(n.traversal_ids) and (g.access_level <> 5 or g.namespace_id = n.id)) held`

const SCOPES = {
  /** Of administrators, all; of others, those they belong to; of nobody, what is open. */
  own: 'case when $2 then true when $1::bigint is null then n.visibility = any($3) else belongs end',
  open: '($2 or belongs or n.visibility = any($3))',
  role: (level: number): string => `n.role >= ${level}`,
  owned: `n.role > 0 and n.id in (select namespace_id from members where user_id = $1 and access_level = 50)`,
}
type Case = readonly [list: string, where: string, order: string]
const LIKE = `case when lower(n.name) = 'keel' or lower(n.path) = 'keel' then 0 when lower(n.name) like 'keel%' then 1
  when lower(n.path) like 'keel%' then 2 else 3 end, n.parent_id is not null,
  case when lower(n.name) not like 'keel%' and lower(n.path) like 'keel%' then lower(n.path) else lower(n.name) end collate "C", n.id`
const HOLDS = `(n.name ilike '%keel%' or n.full_path ilike '%keel%')`
const HOLDS_INSIDE = `(n.name ilike '%keel%' or n.path ilike '%keel%')`
const [GROUPS, CHILDREN, BELOW] = [
  `n.kind = 'group'`,
  'n.parent_id = 1000',
  'n.id <> 1000 and n.traversal_ids @> array[1000::bigint]',
]
const CASES: readonly Case[] = [
  ['/groups?', `${GROUPS} and ${SCOPES.own}`, 'n.name, n.id'],
  ['/groups?all_available=true', `${GROUPS} and ${SCOPES.open}`, 'n.name, n.id'],
  ['/groups?order_by=path&sort=desc', `${GROUPS} and ${SCOPES.own}`, 'n.path desc, n.id'],
  ['/groups?all_available=true&order_by=id', `${GROUPS} and ${SCOPES.open}`, 'n.id'],
  ['/groups?visibility=private', `${GROUPS} and ${SCOPES.own} and n.visibility = 'private'`, 'n.name, n.id'],
  ['/groups?top_level_only=true', `${GROUPS} and ${SCOPES.own} and n.parent_id is null`, 'n.name, n.id'],
  [
    '/groups?top_level_only=true&all_available=true&order_by=path',
    `${GROUPS} and ${SCOPES.open} and n.parent_id is null`,
    'n.path, n.id',
  ],
  [
    '/groups?skip_groups=1000,1101&all_available=true',
    `${GROUPS} and ${SCOPES.open} and n.id not in (1000, 1101)`,
    'n.name, n.id',
  ],
  ['/groups?search=keel', `${GROUPS} and ${SCOPES.own} and ${HOLDS}`, 'n.name, n.id'],
  [
    '/groups?search=keel&all_available=true&order_by=similarity',
    `${GROUPS} and ${SCOPES.open} and ${HOLDS}`,
    LIKE,
  ],
  ['/groups?search=keel&order_by=similarity', `${GROUPS} and ${SCOPES.own} and ${HOLDS}`, LIKE],
  [
    '/groups?search=mast 1&all_available=true',
    `${GROUPS} and ${SCOPES.open} and n.name ilike '%mast 1%'`,
    'n.name, n.id',
  ],
  ['/groups/1000/subgroups?all_available=true', `${CHILDREN} and ${SCOPES.open}`, 'n.name, n.id'],
  ['/groups/1000/subgroups?order_by=id&sort=desc', `${CHILDREN} and ${SCOPES.own}`, 'n.id desc'],
  [
    '/groups/1000/subgroups?search=keel&order_by=similarity',
    `${CHILDREN} and ${SCOPES.own} and ${HOLDS_INSIDE}`,
    LIKE,
  ],
  ['/groups/1101/descendant_groups?', `1101 = n.parent_id and ${SCOPES.own}`, 'n.name, n.id'],
  ['/groups/1000/descendant_groups?', `${BELOW} and ${SCOPES.own}`, 'n.name, n.id'],
  [
    '/groups/1000/descendant_groups?all_available=true&order_by=path',
    `${BELOW} and ${SCOPES.open}`,
    'n.path, n.id',
  ],
  [
    '/groups/1000/descendant_groups?search=keel&all_available=true&order_by=similarity',
    `${BELOW} and ${SCOPES.open} and ${HOLDS_INSIDE}`,
    LIKE,
  ],
]
const HELD: readonly Case[] = [
  ...[1, 5, 10, 30, 50].map((level): Case => [
    `/groups?min_access_level=${level}`,
    `${GROUPS} and ${SCOPES.role(level)}`,
    'n.name, n.id',
  ]),
  ['/groups/1000/descendant_groups?min_access_level=30', `${BELOW} and ${SCOPES.role(30)}`, 'n.name, n.id'],
  ['/groups?owned=true', `${GROUPS} and ${SCOPES.owned}`, 'n.name, n.id'],
  ['/namespaces?', `($2 or ${SCOPES.role(5)})`, 'n.id'],
  ['/namespaces?top_level_only=true', `($2 or ${SCOPES.role(5)}) and n.parent_id is null`, 'n.id'],
  ['/namespaces?owned_only=true', SCOPES.role(50), 'n.id'],
  ['/namespaces?search=keel', `($2 or ${SCOPES.role(5)}) and ${HOLDS_INSIDE}`, 'n.id'],
]

/** The first two pages, the last one, and the total. */
async function check(list: string, as: Someone | undefined, expected: readonly number[]): Promise<void> {
  for (const page of new Set([1, 2, Math.ceil(expected.length / 100)].filter((each) => each > 0))) {
    const { status, text, body, headers } = await at().get(`${list}&per_page=100&page=${page}`, as)
    assert.equal(status, 200, text)
    const found = (body as { id: number }[]).map(({ id }) => id)
    assert.deepEqual(found, expected.slice(page * 100 - 100, page * 100))
    assert.equal(headers['x-total'], String(expected.length))
  }
}

for (const [list, where, order] of [...CASES, ...HELD])
  test(`each group that is to be seen is listed once, in order, and no other: ${list}`, async (t) => {
    for (const [index, { name, as, admin }] of callers.entries()) {
      if (as === undefined && HELD.some(([held]) => held === list)) continue
      const open = openTo(as ? { id: as.id, admin, external: name === 'user 6' } : null)
      const text = `select n.id from ruled_${index} n, (select $1::bigint, $2::boolean, $3::text[]) given
         where ${where} order by ${order}`
      const rows = await rowsOf<{ id: number }>(at(), text, [as?.id ?? null, admin, open])
      await t.test(name, () =>
        check(
          list,
          as,
          rows.map(({ id }) => id),
        ),
      )
    }
  })
