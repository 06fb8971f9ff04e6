import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { rowsOf } from '../../test/support/rows.ts'
import { sharedWorld } from '../../test/support/stand.ts'

// Lists find a record with several labels among the links of one of them, which therefore know all of its labels.

const world = sharedWorld()

test('of two that label a record at once, or take labels away, each link knows what is left of both', async () => {
  const { make, opened } = world()
  const project = await make.project({ visibility: 'public' })
  await make.sql(`
    insert into labels (project_id, title, color)
      select ${project.id}, title, '#112233' from unnest('{old,one,two}'::text[]) title;
    insert into issues (iid, project_id, title) select n, ${project.id}, 'T' from generate_series(1, 2) n;
    insert into label_links (label_id, noteable_id)
      select l.id, i.id from labels l, issues i
       where l.project_id = ${project.id} and i.project_id = l.project_id and (l.title = 'old' or i.iid = 2)`)
  const links = `from labels l join issues i on i.project_id = l.project_id where l.project_id = ${project.id}`
  const add = (title: string): string =>
    `insert into label_links (label_id, noteable_id) select l.id, i.id ${links} and i.iid = 1 and l.title = '${title}'`
  const remove = (title: string): string =>
    `delete from label_links where (label_id, noteable_id) in
       (select l.id, i.id ${links} and i.iid = 2 and l.title = '${title}')`
  for (const deed of [add, remove]) {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const first = opened.client.transaction(async (tx) => {
      await tx.script(deed('one'))
      await held
    })
    await sleep(100)
    const second = opened.client.transaction((tx) => tx.script(deed('two')))
    await sleep(200)
    release()
    await Promise.all([first, second])
  }
  const known = await rowsOf<{ iid: number; knows: string }>(
    world(),
    `select i.iid, (select string_agg(o.title, ' ' order by o.title) from labels o where o.id = any(k.label_ids)) as knows
       from label_links k join issues i on i.id = k.noteable_id where i.project_id = ${project.id}
      order by i.iid, k.label_id`,
  )
  assert.deepEqual(
    known.map(({ iid, knows }) => `${iid}: ${knows}`),
    ['1: old one two', '1: old one two', '1: old one two', '2: old'],
  )
})
