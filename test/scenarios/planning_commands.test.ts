/* Iterations, cadences and epics by the real program's commands, beside a running server. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { openReadyPlace, type Place, type Running } from '../support/program.ts'

const words = (line: string): string[] => line.split(' ')
const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

suite('planning by commands', () => {
  let place: Place
  let server: Running
  before(async () => {
    place = await openReadyPlace()
    server = await place.serve()
    await place.json(words('group create --path harbour --visibility public'))
    await place.json(words('project create --path harbour/app --visibility public'))
  })
  after(() => place.clear())

  const listed = async (): Promise<unknown[]> => {
    const answer = await server.get('/api/v4/projects/harbour%2Fapp/iterations')
    const all = (await answer.json()) as { title: string | null; state: number; start_date: string }[]
    return all.map(({ title, state, start_date }) => [title, state, start_date])
  }
  const iteration = (title: string, from: number, to: number): string[] => [
    ...words(`iteration create --group harbour --title ${title}`),
    ...words(`--start-date ${day(from)} --due-date ${day(to)}`),
  ]

  test('an iteration is made, and one that overlaps is refused', async () => {
    const { id, ...made } = await place.json(iteration('first', 0, 6))
    assert.equal(typeof id, 'number')
    const dates = { start_date: day(0), due_date: day(6) }
    assert.deepEqual(made, { iid: 1, sequence: 1, group_id: made['group_id'], title: 'first', ...dates })
    const refused = await place.run(iteration('second', 6, 8))
    assert.deepEqual(
      [refused.code, refused.stderr],
      [1, 'guildhall: its dates overlap with another iteration of the cadence\n'],
    )
    const wrong = await place.run(iteration('second', 8, 6))
    assert.deepEqual([wrong.code, wrong.stderr], [2, 'guildhall: --due-date comes before --start-date\n'])
    assert.deepEqual(await listed(), [['first', 2, day(0)]])
  })

  test('a cadence that has a first day has iterations at once', async () => {
    const line = `cadence create --group harbour --title weekly --start-date ${day(20)} --weeks 1 --ahead 2 --roll-over`
    const { automatic } = await place.json(words(line))
    assert.equal(automatic, true)
    assert.deepEqual(await listed(), [
      ['first', 2, day(0)],
      [null, 1, day(20)],
      [null, 1, day(27)],
    ])
    const again = await place.run(words(line))
    assert.deepEqual([again.code, again.stderr], [1, 'guildhall: --title has already been taken\n'])
    const byHand = await place.run([...iteration('third', 50, 60), '--cadence', 'weekly'])
    assert.equal(byHand.stderr, 'guildhall: the cadence makes its iterations by itself\n')
  })

  test('an epic is made', async () => {
    const { id, group_id, ...made } = await place.json(words('epic create --group harbour --title Sail'))
    assert.deepEqual([typeof id, typeof group_id], ['number', 'number'])
    assert.deepEqual(made, { iid: 1, title: 'Sail', confidential: false })
    const refused = await place.run(words('epic create --group nowhere --title Sail'))
    assert.deepEqual([refused.code, refused.stderr], [1, 'guildhall: there is no group "nowhere"\n'])
  })
})
