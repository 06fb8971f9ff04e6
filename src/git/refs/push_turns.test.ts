import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { PushTurns } from './push_turns.ts'

const REPOSITORY = '/r'
const LONG = { turnMs: 60_000, waitMs: 60_000, queue: 16 }

/** Writes once and says when it got through. */
async function write(turns: PushTurns, heard: string[], name: string, caller?: string): Promise<void> {
  const leave = await turns.pass(REPOSITORY, caller)
  heard.push(name)
  leave()
}

test('a pusher that lost no race gets no turn and delays no other', async () => {
  const turns = new PushTurns(LONG)
  await turns.begin(REPOSITORY, 'ada')
  const heard: string[] = []
  await write(turns, heard, 'writer')
  assert.deepEqual([heard, turns.places], [['writer'], 0])
})

test('in a turn all others wait until its push has landed', async () => {
  const turns = new PushTurns(LONG)
  turns.wants(REPOSITORY, 'ada')
  await turns.begin(REPOSITORY, 'ada')
  const heard: string[] = []
  const writing = [write(turns, heard, 'writer'), write(turns, heard, 'other push', 'bob')]
  const elsewhere = await turns.pass('/elsewhere')
  elsewhere()
  await write(turns, heard, 'push', 'ada')
  assert.deepEqual(heard, ['push'])
  turns.landed(REPOSITORY, 'ada')
  await Promise.all(writing)
  assert.deepEqual(heard, ['push', 'writer', 'other push'])
})

test('a turn begins once those who write have written', async () => {
  const turns = new PushTurns(LONG)
  turns.wants(REPOSITORY, 'ada')
  const leave = await turns.pass(REPOSITORY)
  const heard: string[] = []
  const beginning = turns.begin(REPOSITORY, 'ada').then(() => heard.push('turn'))
  await sleep(20)
  assert.deepEqual(heard, [])
  leave()
  await beginning
  turns.landed(REPOSITORY, 'ada')
})

test('a turn of somebody who never comes ends by itself, and leaves nothing', async () => {
  const turns = new PushTurns({ ...LONG, turnMs: 30 })
  turns.wants(REPOSITORY, 'ada')
  await turns.begin(REPOSITORY, 'ada')
  const heard: string[] = []
  await write(turns, heard, 'writer')
  assert.deepEqual(heard, ['writer'])
  while (turns.places > 0) await sleep(10)
})

test('one turn follows another in the order of asking, and writers have their share between', async () => {
  const turns = new PushTurns(LONG)
  const heard: string[] = []
  for (const caller of ['ada', 'bob', 'cyd']) turns.wants(REPOSITORY, caller)
  await turns.begin(REPOSITORY, 'ada')
  const others = ['bob', 'cyd'].map(async (caller) => {
    await turns.begin(REPOSITORY, caller)
    heard.push(caller)
    await sleep(20)
    turns.landed(REPOSITORY, caller)
  })
  const writing = write(turns, heard, 'writer')
  await sleep(20)
  turns.landed(REPOSITORY, 'ada')
  await Promise.all([writing, ...others])
  assert.deepEqual(heard, ['writer', 'bob', 'cyd'])
})

test('a pusher continues without a turn after its timeout or behind a long queue', async () => {
  const turns = new PushTurns({ ...LONG, waitMs: 30, queue: 1 })
  for (const caller of ['ada', 'bob', 'cyd']) turns.wants(REPOSITORY, caller)
  await turns.begin(REPOSITORY, 'ada')
  await Promise.all([turns.begin(REPOSITORY, 'bob'), turns.begin(REPOSITORY, 'cyd')])
  const heard: string[] = []
  const writing = write(turns, heard, 'bob', 'bob')
  await write(turns, heard, 'ada', 'ada')
  assert.deepEqual(heard, ['ada'])
  turns.landed(REPOSITORY, 'ada')
  await writing
})

test('of two who ask in the same moment each gets a turn, one after the other', async () => {
  const turns = new PushTurns({ turnMs: 50, waitMs: 5_000, queue: 16 })
  const heard: string[] = []
  const begin = async (name: string): Promise<void> => {
    turns.wants(REPOSITORY, name)
    await turns.begin(REPOSITORY, name)
    heard.push(name)
  }
  const leave = await turns.pass(REPOSITORY)
  const both = Promise.all([begin('ada'), begin('bob')])
  const late = sleep(3_000, 'hangs', { ref: false })
  assert.notEqual(await Promise.race([both, late]), 'hangs', `only ${String(heard)} went on`)
  assert.deepEqual(heard, ['ada', 'bob'])
  leave()
  while (turns.places > 0) await sleep(10)
})
