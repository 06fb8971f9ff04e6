import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openProgress } from './progress.ts'

function shown(isTTY: boolean): string {
  let text = ''
  const progress = openProgress({ isTTY, write: (more: string) => (text += more) })
  progress.step('Receiving objects', 0)
  progress.step('Receiving objects', 50)
  progress.step('Indexing history')
  progress.end()
  progress.end()
  return text
}

test('on a terminal progress is one line that changes, and that ends before anything else is written', () => {
  assert.equal(
    shown(true),
    '\r\u001B[KReceiving objects 0%\r\u001B[KReceiving objects 50%\r\u001B[KIndexing history …\n',
  )
})

test('elsewhere progress is one line for each phase', () => {
  assert.equal(shown(false), 'Receiving objects …\nIndexing history …\n')
})

test('without a place to show it progress is silent', () => {
  const progress = openProgress(undefined)
  progress.step('Receiving objects', 1)
  progress.end()
})
