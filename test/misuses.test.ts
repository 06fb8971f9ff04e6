import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'

// Gates that are missing or in the wrong order must not compile. The fixture says so itself, line by line, so that
// every check of types holds it; the compiler's words are read here too, since those are shown to the author of an
// area.

const root = fileURLToPath(new URL('..', import.meta.url))
const fixture = readFileSync(join(root, 'test/fixtures/misuses.ts'), 'utf8')
const MARK = /^\s*\/\/ @ts-expect-error (.*)$/

/** The first line of each error, with all that explains it, by the number of the line it stands in. */
function compile(source: string): Map<number, string> {
  const directory = mkdtempSync(join(tmpdir(), 'guildhall-misuses-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
    writeFileSync(join(directory, 'misuses.ts'), source.replaceAll('../../src/', `${root}src/`))
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}')
    const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
      compilerOptions: object
    }
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { ...compilerOptions, rewriteRelativeImportExtensions: false },
        files: ['misuses.ts'],
      }),
    )
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', directory, '--pretty', 'false'], {
      cwd: directory,
      encoding: 'utf8',
    })
    assert.equal(stderr, '')
    return byLine(stdout)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function byLine(output: string): Map<number, string> {
  const errors = new Map<number, string>()
  let at = 0
  for (const line of output.split('\n')) {
    const found = /^misuses\.ts\((\d+),\d+\): /.exec(line)
    if (found) at = Number(found[1])
    else if (/^\S/.test(line)) throw new Error(`an error outside the fixture: ${line}`)
    errors.set(at, `${errors.get(at) ?? ''}${line}\n`)
  }
  errors.delete(0)
  return errors
}

suite('mistakes in an operation', () => {
  const lines = fixture.split('\n')
  const expected = lines.flatMap((line, i) => {
    const text = MARK.exec(line)?.[1]
    return text === undefined ? [] : [{ line: i + 2, text }]
  })
  const errors = compile(lines.map((line) => (MARK.test(line) ? '//' : line)).join('\n'))
  const nameOf = (line: number): string =>
    lines.slice(0, line).join('\n').split('export const ').at(-1)?.split(' ')[0] ?? ''

  for (const { line, text } of expected)
    test(`${nameOf(line)} does not compile: ${text}`, () =>
      assert.ok(errors.get(line)?.includes(text), errors.get(line)))

  test('nothing else in the fixture fails to compile', () => {
    assert.deepEqual(
      [...errors.keys()],
      expected.map(({ line }) => line),
    )
  })
  test('there are nine mistakes, and two operations that are right', () => {
    const names = [...fixture.matchAll(/^export const (\w+)/gm)].map(([, name]) => name)
    const wrong = expected.map(({ line }) => nameOf(line))
    assert.equal(new Set(wrong).size, 9)
    assert.deepEqual(
      names.filter((name = '') => !wrong.includes(name)),
      ['plainTextInPath', 'actorOfSomebody'],
    )
  })
})
