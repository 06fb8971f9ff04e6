import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CircuitOpen, createCircuit } from './circuit.ts'

const counts = (error: unknown): boolean => error instanceof Error && error.message === 'down'
const fails = (text: string) => (): Promise<never> => Promise.reject(new Error(text))

test('failures in a row open a circuit, for its key alone, until its time is up', async () => {
  let now = 0
  const { run } = createCircuit({ failures: 2, open_ms: 1_000 }, () => now)
  const works = (key: string): Promise<string> => run(key, async () => 'done', counts)
  const breaks = (text = 'down'): Promise<never> => run('a', fails(text), counts)

  await assert.rejects(breaks(), { message: 'down' })
  assert.equal(await works('a'), 'done')
  await assert.rejects(breaks(), { message: 'down' })
  await assert.rejects(breaks('other'), { message: 'other' })
  await assert.rejects(breaks(), { message: 'down' })
  await assert.rejects(breaks(), { message: 'down' })
  await assert.rejects(works('a'), CircuitOpen)
  assert.equal(await works('b'), 'done')

  now = 1_000
  await assert.rejects(breaks(), { message: 'down' })
  await assert.rejects(works('a'), CircuitOpen)
  now = 2_000
  assert.equal(await works('a'), 'done')
  assert.equal(await works('a'), 'done')
})

test('one call probes a circuit while the others are still refused', async () => {
  let now = 0
  const { run } = createCircuit({ failures: 1, open_ms: 1_000 }, () => now)
  await assert.rejects(run('a', fails('down'), counts))
  now = 1_000
  let end = (_result: string): void => {}
  const probing = run('a', () => new Promise<string>((resolve) => (end = resolve)), counts)
  await assert.rejects(
    run('a', async () => 'second', counts),
    CircuitOpen,
  )
  end('first')
  assert.equal(await probing, 'first')
  assert.equal(await run('a', async () => 'third', counts), 'third')
})
