import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type as t } from 'typebox'
import { writer } from './answers.ts'
import { nullable } from '../params/schema.ts'

const Inner = t.Object({ id: t.Integer(), seen: t.Optional(t.Boolean()), name: t.String() })
const Outer = t.Object({
  id: t.Integer(),
  project_id: t.Optional(t.Integer()),
  title: nullable(t.String()),
  author: nullable(Inner),
  notes: t.Optional(t.Array(Inner)),
  web_url: t.String(),
})

test('fields are written in the order in which they are declared, whether they may be missing or not', () => {
  const inner = { name: 'n', seen: false, id: 2 }
  const whole = { web_url: 'w', notes: [inner], author: inner, title: null, project_id: 3, id: 1 }
  const text = '{"id":2,"seen":false,"name":"n"}'
  assert.equal(
    writer('test', Outer, undefined)(whole),
    `{"id":1,"project_id":3,"title":null,"author":${text},"notes":[${text}],"web_url":"w"}`,
  )
  const { project_id: _project, notes: _notes, ...rest } = { ...whole, author: null }
  assert.equal(writer('test', Outer, undefined)(rest), '{"id":1,"title":null,"author":null,"web_url":"w"}')
})
