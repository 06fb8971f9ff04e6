import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { openTo } from '../../core/sight/roles.ts'

// A world drawn by lot: what lists answer, however they find it, is what the rule says of each project by itself.

let seed = 20_261_121
const draw = (below: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
  return Math.floor((seed / 2 ** 31) * below)
}
const VISIBILITIES = ['private', 'internal', 'public'] as const
const callers: { readonly name: string; readonly as: Someone | undefined; readonly admin: boolean }[] = []

/** Groups 1,101 to 1,500 hang below one, whose members reach all of them. */
const WORLD = `
  insert into namespaces (id, kind, parent_id, name, path, full_name, full_path, traversal_ids, visibility)
  overriding system value
    select 1000, 'group', null::bigint, 'vast', 'vast', 'vast', 'vast', array[1000], 'public' union all
    select n, 'group', 1000, 'v' || n, 'v' || n, 'v' || n, 'vast/v' || n, array[1000, n], 'public' from generate_series(1101, 1500) n union all
    select n, 'group', 1101 + n % 5, 'w' || n, 'w' || n, 'w' || n, 'vast/v' || 1101 + n % 5 || '/w' || n, array[1000, 1101 + n % 5, n], 'public'
      from generate_series(2301, 2320) n union all
    select n, 'group', null, 'x' || n, 'vast-' || n, 'x' || n, 'vast-' || n, array[n], 'public' from generate_series(2401, 2410) n;`

const at = sharedWorld(
  async ({ make }) => {
    await make.sql(WORLD)
    const places = [1000, 1101, 1102, 1103, 1500, 2301, 2302, 2303, 2401, 2402, 2403]
    const words = ['Anchor', 'anchorage', 'Of anchors', 'Keel', 'ke', 'Mast']
    const rows = Array.from({ length: 260 }, (_, n) => {
      const home = places[draw(places.length)] ?? 1000
      const name = `${words[draw(words.length)]} ${n}`
      const topics = draw(3) === 0 ? `'{sea}'` : `'{}'`
      return `(${home}, '${name}', 'p${n}', (select full_path from namespaces where id = ${home}) || '/p${n}',
      '${VISIBILITIES[draw(3)]}', ${draw(4) === 0}, ${topics}, ${draw(3)})`
    })
    await make.sql(`insert into projects (namespace_id, name, path, full_path, visibility, archived, topics, star_count)
                  values ${rows.join(', ')}`)
    callers.push({ name: 'nobody', as: undefined, admin: false })
    callers.push({ name: 'an administrator', as: await make.admin(), admin: true })
    for (let i = 0; i < 8; i++) {
      const as = await make.user()
      const grants = Array.from({ length: i }, () => {
        const level = [0, 5, 10, 20, 30, 40, 50][draw(7)]
        return `insert into members (user_id, namespace_id, access_level) values
        (${as.id}, ${places[draw(places.length)]}, ${level}) on conflict do nothing;
        insert into members (user_id, project_id, access_level)
          select ${as.id}, id, ${[0, 10, 30, 50][draw(4)]} from projects order by id offset ${draw(250)} limit 1
          on conflict do nothing;`
      })
      if (i === 6) grants.push(`update users set external = true where id = ${as.id};`)
      if (i > 0) await make.sql(grants.join('\n'))
      callers.push({ name: `user ${i}`, as, admin: false })
    }
    const top = await make.user()
    const denied = await make.user()
    await make.sql(`insert into members (user_id, namespace_id, access_level) values
      (${top.id}, 1000, 30), (${denied.id}, 1000, 40), (${denied.id}, 1102, 0), (${denied.id}, 2402, 10);
    insert into group_group_links (shared_group_id, shared_with_group_id, group_access) values (2401, 2402, 30);
    insert into project_group_links (project_id, group_id, group_access)
      select id, 2402, 20 from projects where namespace_id = 2403 order by id limit 3`)
    callers.push({ name: 'a member of the vast group', as: top, admin: false })
    callers.push({ name: 'one with a denial in it', as: denied, admin: false })
    await rule()
  },
  { fresh: true },
)

/** The rule, project by project: what the caller holds on each is reckoned once for all lists. */
const ruled = (caller: number | null): string => `
  with mine as materialized (select * from grants where user_id = ${caller} and access_level <> 5)
  select p.id, coalesce(held.role, 0) as role from projects p join namespaces n on n.id = p.namespace_id, lateral (
    select case when min(g.access_level) = 0 then 0 else max(g.access_level) end as role from mine g
     where g.namespace_id = any(n.traversal_ids) or g.project_id = p.id) held`

async function rule(): Promise<void> {
  for (const [index, { as }] of callers.entries())
    await at().make.sql(`drop table if exists ruled_${index};
      create unlogged table ruled_${index} as ${ruled(as?.id ?? null)}`)
  // Plans made as if everything were empty take ten times as long.
  await at().make.sql('analyze')
}

async function expected(who: (typeof callers)[number], where: string, level: number): Promise<number[]> {
  const open = openTo(who.as ? { id: who.as.id, admin: false, external: who.name === 'user 6' } : null)
  const rows = await rowsOf<{ id: number }>(
    at(),
    `select p.id from ruled_${callers.indexOf(who)} held join projects p using (id)
       join namespaces n on n.id = p.namespace_id
      where (${where}) and case when $2 > 0 then held.role >= $2
                                else $1 or p.visibility = any($3) or held.role >= 10 end
      order by p.id`,
    [who.admin, level, open],
  )
  return rows.map(({ id }) => id)
}

async function answered(query: string, as: Someone | undefined, list = '/projects?'): Promise<number[]> {
  const found: number[] = []
  for (let page = 1; ; page++) {
    const answer = await at().get(`${list}${query}&per_page=100&page=${page}`, as)
    assert.equal(answer.status, 200, answer.text)
    found.push(...(answer.body as { id: number }[]).map(({ id }) => id))
    if (answer.headers['x-next-page']) continue
    assert.equal(answer.headers['x-total'], String(found.length), `the total of ${query}`)
    return found
  }
}

const LISTS: readonly (readonly [query: string, where: string, level: number])[] = [
  ['', 'true', 0],
  ['order_by=name&sort=asc', 'true', 0],
  ['order_by=star_count&archived=false', 'not archived', 0],
  ['visibility=private&order_by=last_activity_at', `p.visibility = 'private'`, 0],
  ['visibility=internal', `p.visibility = 'internal'`, 0],
  ['archived=true', 'archived', 0],
  ['topic=sea', `topics @> '{sea}'`, 0],
  ['search=anchor', `p.name ilike '%anchor%'`, 0],
  ['search=anchor&order_by=similarity', `p.name ilike '%anchor%'`, 0],
  ['search=keel 1&order_by=similarity', `p.name ilike '%keel 1%'`, 0],
  ['search=ke&order_by=similarity', `lower(p.name) = 'ke'`, 0],
  ['search=p7', `p.path = 'p7'`, 0],
  ['search=e 1', `p.name ilike '%e 1%'`, 0],
  ['search=e 1&order_by=similarity', `p.name ilike '%e 1%'`, 0],
  ['id_before=100', 'p.id < 100', 0],
  ['id_before=40&search=anchor', `p.id < 40 and p.name ilike '%anchor%'`, 0],
  ['last_activity_after=2020-01-01&archived=false', 'not archived', 0],
  ['last_activity_before=2020-01-01', 'false', 0],
  ['search=vast/v1101&search_namespaces=true', `p.full_path ilike '%vast/v1101%'`, 0],
]
const OWN: typeof LISTS = [
  ['membership=true', 'true', 10],
  ['min_access_level=30&order_by=path', 'true', 30],
  ['owned=true', 'true', 50],
  ['membership=true&search=anchor', `p.name ilike '%anchor%'`, 10],
  ['membership=true&visibility=public&topic=sea', `p.visibility = 'public' and topics @> '{sea}'`, 10],
]

for (const [query, where, level] of [...LISTS, ...OWN])
  test(`each project that is to be seen is listed once, and no other: ${query || 'as it comes'}`, async () => {
    for (const who of callers) {
      if (level > 0 && who.as === undefined) continue
      const found = await answered(query, who.as)
      assert.deepEqual(
        found.toSorted((a, b) => a - b),
        await expected(who, where, level),
        `${who.name}, ${query}`,
      )
    }
  })

const PLACES = [
  ['/groups/1101/projects', 'p.namespace_id = 1101'],
  ['/groups/1000/projects?include_subgroups=true', 'n.traversal_ids @> array[1000::bigint]'],
] as const
const THERE: typeof LISTS = [
  ['order_by=name&archived=true', 'archived', 0],
  ['visibility=internal', `p.visibility = 'internal'`, 0],
  ['search=anchor', `p.name ilike '%anchor%'`, 0],
  ['search=anchor&order_by=similarity', `p.name ilike '%anchor%'`, 0],
  ['search=keel', `p.name ilike '%keel%'`, 0],
  ['search=keel&order_by=similarity', `p.name ilike '%keel%'`, 0],
  ['min_access_level=30&search=keel', `p.name ilike '%keel%'`, 30],
]
/** More than a page holds. */
const FILLERS = `insert into projects (namespace_id, name, path, full_path, visibility)
  select 1101, 'Filler ' || n, 'f' || n, 'vast/v1101/f' || n, 'private' from generate_series(1, 250) n`

for (const size of ['a few projects', 'hundreds'])
  test(`in a group with ${size}, too, each is listed once, and no other`, async () => {
    if (size === 'hundreds') {
      await at().make.sql(FILLERS)
      await rule()
    }
    for (const who of callers)
      for (const [list, place] of PLACES)
        for (const [query, where, level] of THERE) {
          if (level > 0 && who.as === undefined) continue
          const path = list.includes('?') ? `${list}&` : `${list}?`
          assert.deepEqual(
            (await answered(query, who.as, path)).toSorted((a, b) => a - b),
            await expected(who, `${place} and ${where}`, level),
            `${who.name}, ${list}, ${query}`,
          )
        }
  })

test('search orders by equality, then prefix, then containment', async () => {
  const { body } = await at().get('/projects?search=anchor&order_by=similarity&per_page=100', callers[1]?.as)
  const names = (body as { name: string }[]).map(({ name }) => name.toLowerCase())
  const rank = (name: string): number => (name.startsWith('anchor') ? 0 : 1)
  assert.deepEqual(
    names,
    names.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)),
  )
})
