import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readJunit } from './junit.ts'
import { BadReport } from './report_file.ts'

const suites = (cases: string): string => `<testsuites><testsuite name="s">${cases}</testsuite></testsuites>`

test('the cases of a report keep their status, time and output', async () => {
  const cases = await readJunit(
    suites(`
      <testcase classname="a.b" name="one &amp; two" time="0.25" file="a.rb"/>
      <testcase name="bad" time="x"><failure message="short">  long <![CDATA[<text>]]> </failure></testcase>
      <testcase name="worse"><error message="short"/><system-out>noise</system-out></testcase>
      <testcase name="not"><skipped/></testcase>`),
    10,
  )
  assert.deepEqual(
    cases.map((one) => [
      one.status,
      one.name,
      one.classname,
      one.file,
      one.execution_time,
      one.system_output,
    ]),
    [
      ['success', 'one & two', 'a.b', 'a.rb', 0.25, null],
      ['failed', 'bad', '', null, 0, 'long <text>'],
      ['error', 'worse', '', null, 0, 'short'],
      ['skipped', 'not', '', null, 0, null],
    ],
  )
})

test('several reports behind each other are one', async () => {
  const one = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite><testcase name="a"/></testsuite>\n`
  assert.equal((await readJunit(one + one, 10)).length, 2)
  assert.deepEqual(await readJunit('', 10), [])
})

test('a report that is no XML, too deep or too long is refused', async () => {
  const bomb = `<!DOCTYPE a [<!ENTITY a "${'x'.repeat(100)}"><!ENTITY b "&a;&a;">]><testcase name="&b;"/>`
  const bad = [
    'hello',
    '<a>',
    '<a></b>',
    '<testcase name=a/>',
    '<a>&unknown;</a>',
    '<a>'.repeat(101),
    suites('<testcase/>'.repeat(11)),
    bomb,
  ]
  for (const text of bad) await assert.rejects(readJunit(text, 10), BadReport, text.slice(0, 40))
})
