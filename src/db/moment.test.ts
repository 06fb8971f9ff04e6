import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { parseMoment } from './moment.ts'

const asTheDriver = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)

test('a moment is read and written as the driver reads and the language writes it', () => {
  const days = ['0001-01-01', '0099-12-31', '1969-12-31', '2024-02-29', '2026-11-22', '9999-12-31']
  const times = ['00:00:00', '10:05:09', '23:59:59']
  const fractions = ['', '.1', '.12', '.123', '.1239', '.000001', '.999999', '.5', '.100009']
  const zones = ['+00', '+02', '-11:30']
  const odd = ['12026-01-31 10:00:00.123456+00', '0044-03-15 10:00:00+00 BC', '2026-01-31 10:00:00+00:00']
  const usual = days.flatMap((day) =>
    times.flatMap((time) => fractions.flatMap((part) => zones.map((zone) => `${day} ${time}${part}${zone}`))),
  )
  for (const text of [...usual, ...odd]) {
    const [read, wanted] = [parseMoment(text), asTheDriver(text) as unknown]
    assert(read instanceof Date && wanted instanceof Date, text)
    assert.equal(read.getTime(), wanted.getTime(), text)
    assert.equal(read.toISOString(), wanted.toISOString(), text)
    assert.equal(JSON.stringify(read), JSON.stringify(wanted), text)
  }
  assert.equal(parseMoment('infinity'), Infinity)
})
