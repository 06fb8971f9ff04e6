import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeEpic, makeIssue, makeMergeRequest, type Made } from '../../../test/support/noteables.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

// Which labels exclude each other.

const world = sharedWorld()

interface Step {
  readonly put?: object
  readonly says?: string
  /** Labels of the record afterwards. */
  readonly bears: string
  /** Added and removed labels, by title. */
  readonly told: string
}
const STEPS: readonly Step[] = [
  { put: { labels: 'w::b,plain,w::a' }, bears: 'plain w::a', told: '+plain +w::a' },
  { put: { add_labels: 'w::b' }, bears: 'plain w::b', told: '+w::b -w::a' },
  { put: { add_labels: 'w::a::1,v::b' }, bears: 'plain v::b w::a::1 w::b', told: '+v::b +w::a::1' },
  { put: { add_labels: 'w::a::2' }, bears: 'plain v::b w::a::2 w::b', told: '+w::a::2 -w::a::1' },
  { put: { add_labels: 'w::b,w::a,w::b' }, bears: 'plain v::b w::a::2 w::b', told: '' },
  {
    put: { add_labels: 'w::b,w::a', remove_labels: 'w::a' },
    bears: 'plain v::b w::a::2 w::b',
    told: '',
  },
  { put: { add_labels: 'W::a,w' }, bears: 'W::a plain v::b w w::a::2 w::b', told: '+W::a +w' },
  { says: '/label ~w::b ~w::a', bears: 'W::a plain v::b w w::a w::a::2', told: '+w::a -w::b' },
  {
    says: '/label ~w::a ~w::b ~w::a\n/label ~w::b',
    bears: 'W::a plain v::b w w::a::2 w::b',
    told: '+w::b -w::a',
  },
  { says: '/label ~w::a ~w::none', bears: 'W::a plain v::b w w::a w::a::2', told: '+w::a -w::b' },
  { says: '/relabel ~w::b ~w::a ~plain', bears: 'plain w::a', told: '-W::a -v::b -w -w::a::2' },
  { put: { labels: 'w::a,w::b' }, bears: 'w::b', told: '+w::b -plain -w::a' },
]

test('of scoped labels with one key a record bears one: the one that was given last, and both are told of', async () => {
  const { make, call } = world()
  const group = await make.group()
  const project = await make.project({ group })
  const as = await make.memberOf('developer', { group })
  const titles = 'w::a w::b w::a::1 w::a::2 v::b W::a plain w'.split(' ')
  for (const title of titles)
    await make.sql(`insert into labels (group_id, title, color) values (${group.id}, '${title}', '#112233')`)
  const links = async ({ id }: Made): Promise<string> => {
    const query = `select l.title from label_links k join labels l on l.id = k.label_id where k.noteable_id = $1`
    return (await rowsOf<{ title: string }>(world(), query, [id]))
      .map(({ title }) => title)
      .sort()
      .join(' ')
  }
  const events = ({ id }: Made): Promise<{ told: string }[]> =>
    rowsOf(
      world(),
      `select case e.action when 'add' then '+' else '-' end || l.title as told
         from resource_label_events e join labels l on l.id = e.label_id where e.noteable_id = $1 order by e.id`,
      [id],
    )
  for (const about of [
    await makeIssue(world(), project),
    await makeMergeRequest(world(), project),
    await makeEpic(world(), group),
  ])
    for (const { put, says, bears, told } of STEPS) {
      const before = (await events(about)).length
      // Epics are named by their number, and by their id where it is of their notes.
      const path = about.path.replace(/epics.*/, `epics/${about.iid}`)
      const { status, text } = await (put === undefined
        ? call('POST', `${about.path}/notes`, { as, body: { body: says } })
        : call('PUT', path, { as, body: put }))
      const what = `${about.path}: ${JSON.stringify(put ?? says)}`
      assert.equal(status, put === undefined ? 202 : 200, `${what}: ${text}`)
      assert.equal(await links(about), bears, what)
      const fresh = (await events(about)).slice(before).map((event) => event.told)
      assert.equal(fresh.sort().join(' '), told, what)
    }
})

test('a record begins with one of a scope, and two that it bears by other ways stay until one is given', async () => {
  const { make, call } = world()
  const group = await make.group()
  const project = await make.project({ group })
  const as = await make.memberOf('developer', { group })
  await make.sql(`insert into labels (group_id, title, color) values (${group.id}, 'w::a', '#112233')`)
  const body = { title: 'T', labels: 'w::a,w::b,plain' }
  for (const path of [`/projects/${project.id}/issues`, `/groups/${group.id}/epics`]) {
    const made = (await call('POST', path, { as, body })).body as Made & { labels: string[] }
    assert.deepEqual(made.labels, ['plain', 'w::b'])
    await make.sql(`
      insert into label_links (label_id, noteable_id)
      select id, ${made.id} from labels where title = 'w::a' and group_id = ${group.id}`)
    const change = async (change: object): Promise<string[]> =>
      ((await call('PUT', `${path}/${made.iid}`, { as, body: change })).body as { labels: string[] }).labels
    assert.deepEqual(await change({ add_labels: 'v::a' }), ['plain', 'v::a', 'w::a', 'w::b'])
    assert.deepEqual(await change({ add_labels: 'w::a' }), ['plain', 'v::a', 'w::a'])
  }
})
