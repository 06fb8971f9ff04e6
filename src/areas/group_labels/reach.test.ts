import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeLabel } from '../../../test/support/label_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type World } from '../../../test/support/world.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

let world: World
let admin: Someone
let top: Namespace
let middle: Namespace
let below: Namespace
let beside: Namespace
let projects: Record<'top' | 'middle' | 'below', Project>

/** Four groups and three projects, each with one label that bears its place as title, and one that all have. */
before(async () => {
  world = await openWorld()
  admin = await world.make.admin()
  top = await world.make.group({ visibility: 'public' })
  middle = await world.make.group({ parent: top, visibility: 'public' })
  below = await world.make.group({ parent: middle, visibility: 'public' })
  beside = await world.make.group({ parent: top, visibility: 'public' })
  projects = {
    top: await world.make.project({ group: top, visibility: 'public' }),
    middle: await world.make.project({ group: middle, visibility: 'public' }),
    below: await world.make.project({ group: below, visibility: 'public' }),
  }
  for (const [title, group] of Object.entries({ top, middle, below, beside }))
    await makeLabel(world, { group }, { title })
  for (const [place, project] of Object.entries(projects))
    await makeLabel(world, { project }, { title: `${place} project` })
})
after(() => world.close())

async function reached(group: Namespace, query: string, as = admin): Promise<string[]> {
  const answer = await world.get(`/groups/${group.id}/labels?${query}`, as)
  assert.equal(answer.status, 200, answer.text)
  const names = (answer.body as { name: string }[]).map(({ name }) => name)
  assert.equal(answer.headers['x-total'], String(names.length))
  return names
}

const ANCESTORS = 'include_ancestor_groups'
const DESCENDANTS = 'include_descendant_groups'
const GROUPS_ONLY = 'only_group_labels'
const EVERY_WHERE = `${DESCENDANTS}=true&${GROUPS_ONLY}=false`

test('a list reaches up by default, and down and into projects on request', async () => {
  const rows: [string, string[]][] = [
    ['', ['middle', 'top']],
    [`${ANCESTORS}=true`, ['middle', 'top']],
    [`${ANCESTORS}=false`, ['middle']],
    [`${DESCENDANTS}=true`, ['below', 'middle', 'top']],
    [`${DESCENDANTS}=true&${ANCESTORS}=false`, ['below', 'middle']],
    [`${GROUPS_ONLY}=true`, ['middle', 'top']],
    [`${GROUPS_ONLY}=false`, ['middle', 'middle project', 'top']],
    [`${GROUPS_ONLY}=false&${ANCESTORS}=false`, ['middle', 'middle project']],
    [EVERY_WHERE, ['below', 'below project', 'middle', 'middle project', 'top']],
    [`${EVERY_WHERE}&${ANCESTORS}=false`, ['below', 'below project', 'middle', 'middle project']],
    [`${EVERY_WHERE}&search=PROJECT`, ['below project', 'middle project']],
    [`${DESCENDANTS}=true&search=m`, ['middle']],
  ]
  for (const [query, names] of rows) assert.deepEqual(await reached(middle, query), names, query)
  assert.deepEqual(await reached(top, ''), ['top'])
  assert.deepEqual(await reached(below, ''), ['below', 'middle', 'top'])
})

test('pages of a wide list join without a gap and without a double', async () => {
  const all = await reached(middle, EVERY_WHERE)
  const pages = []
  for (let page = 1; page <= all.length; page++) {
    const answer = await world.get(
      `/groups/${middle.id}/labels?${EVERY_WHERE}&per_page=1&page=${page}`,
      admin,
    )
    pages.push(...(answer.body as { name: string }[]).map(({ name }) => name))
  }
  assert.deepEqual(pages, all)
})

test('one label is found within the same reach', async () => {
  const found = async (title: string, query: string): Promise<number> =>
    (await world.get(`/groups/${middle.id}/labels/${encodeURIComponent(title)}?${query}`, admin)).status
  const rows: [string, string, number][] = [
    ['middle', '', 200],
    ['top', '', 200],
    ['top', `${ANCESTORS}=false`, 404],
    ['below', '', 404],
    ['below', `${DESCENDANTS}=true`, 200],
    ['beside', EVERY_WHERE, 404],
    ['middle project', '', 404],
    ['middle project', `${GROUPS_ONLY}=false`, 200],
    ['below project', `${GROUPS_ONLY}=false`, 404],
    ['below project', EVERY_WHERE, 200],
    ['top project', EVERY_WHERE, 404],
  ]
  for (const [title, query, status] of rows)
    assert.equal(await found(title, query), status, `${title} ${query}`)
})

test('of labels with one title the group itself comes first', async () => {
  for (const home of [{ group: top }, { group: below }, { project: projects.middle }, { group: middle }])
    await makeLabel(world, home, { title: 'shared', description: JSON.stringify(Object.keys(home)) })
  const own = await rowsOf<{ id: number }>(
    world,
    `select id from labels where title = 'shared' and group_id = $1`,
    [middle.id],
  )
  const answer = await world.get(`/groups/${middle.id}/labels/shared?${EVERY_WHERE}`, admin)
  assert.equal((answer.body as { id: number }).id, own[0]?.id)
  const names = await reached(middle, `${EVERY_WHERE}&search=shared`)
  assert.deepEqual(names, ['shared', 'shared', 'shared', 'shared'])
  await world.make.sql(`delete from labels where title = 'shared'`)
})

test('the list reaches into hidden groups and projects only for those who may see them', async () => {
  const hidden = await world.make.group({ parent: middle, visibility: 'private' })
  const deeper = await world.make.group({ parent: hidden, visibility: 'private' })
  const secret = await world.make.project({ group: middle, visibility: 'private' })
  const inside = await world.make.project({ group: hidden, visibility: 'private' })
  const internal = await world.make.project({ group: middle, visibility: 'internal' })
  for (const [title, home] of Object.entries({
    '~hidden': { group: hidden },
    '~deeper': { group: deeper },
    '~secret': { project: secret },
    '~inside': { project: inside },
    '~internal': { project: internal },
  }))
    await makeLabel(world, home, { title })
  const external = await world.make.user()
  await rowsOf(world, 'update users set external = true where id = $1', [external.id])
  const denied = await world.make.memberOf('owner', { group: middle })
  await world.make.member(denied, 'no_access', { group: hidden })
  const rows: [string, Someone, string[]][] = [
    ['a stranger', await world.make.user(), ['~internal']],
    ['an external stranger', external, []],
    ['a minimal member', await world.make.memberOf('minimal_access', { group: middle }), ['~internal']],
    [
      'a minimal member of the hidden group',
      await world.make.memberOf('minimal_access', { group: hidden }),
      ['~internal'],
    ],
    [
      'a guest of the group above',
      await world.make.memberOf('guest', { group: top }),
      ['~deeper', '~hidden', '~inside', '~internal', '~secret'],
    ],
    [
      'a guest of the hidden group',
      await world.make.memberOf('guest', { group: hidden }),
      ['~deeper', '~hidden', '~inside', '~internal'],
    ],
    [
      'a guest of the group below it',
      await world.make.memberOf('guest', { group: deeper }),
      ['~deeper', '~hidden', '~internal'],
    ],
    [
      'a guest of a project in it',
      await world.make.memberOf('guest', { project: inside }),
      ['~hidden', '~inside', '~internal'],
    ],
    [
      'a guest of the secret project',
      await world.make.memberOf('guest', { project: secret }),
      ['~internal', '~secret'],
    ],
    ['an owner who is denied the hidden group', denied, ['~internal', '~secret']],
    ['an administrator', admin, ['~deeper', '~hidden', '~inside', '~internal', '~secret']],
  ]
  for (const [who, as, names] of rows) {
    assert.deepEqual(await reached(middle, `${EVERY_WHERE}&search=~`, as), names, who)
    for (const title of ['~hidden', '~deeper', '~secret', '~inside', '~internal']) {
      const answer = await world.get(`/groups/${middle.id}/labels/${title}?${EVERY_WHERE}`, as)
      assert.equal(answer.status, names.includes(title) ? 200 : 404, `${who} ${title}`)
      if (answer.status === 404) assert.deepEqual(answer.body, { message: '404 Label Not Found' })
    }
  }
})
