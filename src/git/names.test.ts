import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gitText, scratch, writeHistory } from '../../test/support/git_fixtures.ts'
import { isRefName } from './names.ts'

const directory = join(scratch(), 'names.git')
writeHistory(directory, 60, 3)

const isMadeByGit = (name: string): boolean => {
  try {
    gitText(directory, ['update-ref', `refs/heads/${name}`, 'main'])
    return true
  } catch {
    return false
  }
}

void test('a part of a ref name leaves room for the `.lock` of its file: 250 bytes', () => {
  for (const name of [
    'a'.repeat(250),
    `b/${'é'.repeat(125)}`,
    'c'.repeat(251),
    `d/${'é'.repeat(125)}e/f`,
    'g'.repeat(255),
    'h'.repeat(256),
  ]) {
    const long = name.split('/').some((part) => Buffer.byteLength(part) > 250)
    assert.equal(isRefName(name), !long)
    // Git makes directories of 255 bytes, and only the last part becomes a file.
    if (!name.startsWith('d')) assert.equal(isMadeByGit(name), !long)
  }
})
