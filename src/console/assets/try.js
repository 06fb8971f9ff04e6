// The form that sends a request to this server, and what came back.

import { API_ROOT, codeBox, facts, h, page, paintedJson, parsed, present } from './parts.js'
import { deref, flatten, members, nullable, typesOf } from './schema.js'

const TOKEN_KEY = 'guildhall.docs.token'
const SHOWN_CHARACTERS = 200_000
const HEADERS_SHOWN =
  /^(content-type|link|location|etag|retry-after|deprecation|ratelimit-.*|x-(request-id|total|page|per-page|.*-pages?))$/

let token = stored((storage) => storage.getItem(TOKEN_KEY))

/** Storage may be switched off altogether; the token then lives as long as the page. */
function stored(act) {
  try {
    return act(sessionStorage) ?? ''
  } catch {
    return ''
  }
}

const isFile = ({ format, items }) => format === 'binary' || (items ? isFile(flatten(items)) : false)
const isFileMember = (member) => isFile(flatten(member.schema))

/** The kind of body the form sends: JSON where it can, a multipart form where there are files. */
export function bodyOf(operation) {
  const { content, required } = deref(operation.requestBody)
  if (!content) return undefined
  const types = Object.keys(content)
  const files = types.some((each) => members(content[each].schema).some(isFileMember))
  const wanted = files ? /multipart/ : /json/
  const type = types.find((each) => wanted.test(each)) ?? types[0]
  const schema = flatten(content[type].schema)
  const named = members(schema).filter((member) => member.name)
  const fields = named.length > 0 && named.map((member) => ({ ...member, in: 'body' }))
  return { type, types, required, schema, fields, json: /json/.test(type), form: /multipart/.test(type) }
}

function control({ name, in: where, schema }, id) {
  const common = { id, name, required: where === 'path', autocomplete: 'off', spellcheck: 'false' }
  const values = schema.enum ?? (typesOf(schema)[0] === 'boolean' && [true, false])
  if (isFile(schema)) return h('input', { ...common, type: 'file', multiple: Boolean(schema.items) })
  if (values) {
    const none = schema.default === undefined ? '' : `${schema.default} (default)`
    const choices = where === 'body' && nullable(schema) ? [...values, 'null'] : values
    const listed = choices.map((value) => h('option', String(value)))
    return h('select', common, h('option', { value: '' }, none), listed)
  }
  if (typesOf(schema).includes('object') || members(schema).length) {
    const check = ({ target }) =>
      target.setCustomValidity(target.value && parsed(target.value) === undefined ? 'This is not JSON.' : '')
    return h('textarea', { ...common, rows: 4, placeholder: 'JSON', input: check })
  }
  const sample = { 'date-time': '2030-01-31T12:00:00Z', date: '2030-01-31' }[schema.format]
  const placeholder = schema.items ? 'several, with commas' : (schema.default ?? sample)
  // A segment of one or two dots would be resolved away and hit another operation than the one shown.
  return h('input', { ...common, type: 'text', placeholder, pattern: where === 'path' && '(?!\\.{1,2}$).+' })
}

/** What is no number goes as it is: the server's refusal is worth seeing too. */
function scalar(schema, raw) {
  if (raw === 'null' && nullable(schema)) return null
  if (raw === '""') return ''
  const type = typesOf(schema)[0]
  if (type === 'boolean') return raw === 'true'
  return /^(integer|number)$/.test(type) && Number.isFinite(Number(raw)) ? Number(raw) : raw
}

/** What a field holds: undefined when it is to be left out, a list or a value otherwise. */
function valueOf({ schema, input, in: where }) {
  if (input.type === 'file') return schema.items && input.files.length ? [...input.files] : input.files[0]
  if (input.value === '') return undefined
  if (input.type === 'textarea') return parsed(input.value)
  const parts = schema.items ? input.value.split(',').map((part) => part.trim()) : [input.value]
  const values = where === 'body' ? parts.map((part) => scalar(flatten(schema.items ?? schema), part)) : parts
  return schema.items ? values : values[0]
}

const placeholderOf = ({ name, schema }) => schema.enum?.[0] ?? schema.default ?? name.toUpperCase()

function queryPairs({ name, schema, explode }, value) {
  // Without brackets in its name, a list the server splits at commas would lose all but one repetition.
  const joined = explode === false || (schema.commas && !name.endsWith('[]'))
  const list = joined ? [value].flat().join(',') : value
  return [list].flat().map((each) => [name, each].map(encodeURIComponent).join('='))
}

/** Turns the fields into a request; in the curl line what is required and still empty gets a placeholder. */
function assemble(operation, fields, filled) {
  const request = { target: operation.path, headers: {}, entries: [] }
  const query = []
  for (const field of fields) {
    const { name, in: where } = field
    let value = valueOf(field)
    if (value === undefined && filled && field.required) value = placeholderOf(field)
    if (value === undefined) continue
    if (where === 'path')
      request.target = request.target.replace(`{${name}}`, () => encodeURIComponent(value))
    if (where === 'query') query.push(...queryPairs(field, value))
    if (where === 'header') request.headers[name] = String(value)
    if (where === 'body') request.entries.push([name, value])
  }
  if (query.length) request.target += `?${query.join('&')}`
  return request
}

/** A form knows texts and files only: lists repeat the name, and structures go as JSON. */
function formEntries(entries) {
  const plain = (value) =>
    Object(value) === value && !(value instanceof File) ? JSON.stringify(value) : value
  return entries.flatMap(([name, value]) => [value].flat().map((each) => [name, plain(each)]))
}

function payloadOf(body, entries) {
  if (body.json) return JSON.stringify(body.fields ? Object.fromEntries(entries) : entries[0]?.[1])
  if (!body.form) return entries[0]?.[1]
  const form = new FormData()
  for (const [name, value] of formEntries(entries)) form.append(name, value)
  return form
}

const quoted = (text) => `'${String(text).replaceAll("'", `'\\''`)}'`

function curlLine(operation, body, fields) {
  const { target, headers, entries } = assemble(operation, fields, true)
  const base = new URL(page.spec.servers?.[0]?.url ?? API_ROOT, location.origin).href.replace(/\/$/, '')
  const verb = operation.method === 'get' ? '' : ` --request ${operation.method.toUpperCase()}`
  const lines = [`curl${verb} ${quoted(base + target)}`]
  // The token stays out of what is copied: such lines end up in tickets and shell histories.
  if (token || String(operation['x-permission']) !== 'anyone') lines.push('--header "PRIVATE-TOKEN: $TOKEN"')
  for (const [name, value] of Object.entries(headers)) lines.push(`--header ${quoted(`${name}: ${value}`)}`)
  if (body && (entries.length || body.required)) lines.push(...curlBody(body, entries))
  return lines.join(' \\\n  ')
}

function curlBody(body, entries) {
  const file = (name) => isFile(flatten(body.schema.properties?.[name] ?? body.schema))
  const text = (name, value) => (file(name) ? `@${value.name ?? value}` : value)
  const pairs = formEntries(entries)
  // Only --form reads a leading @ as a file to send, which no text should do by chance.
  const option = (name) => (file(name) ? '--form' : '--form-string')
  if (body.form)
    return pairs.map(([name, value]) => `${option(name)} ${quoted(`${name}=${text(name, value)}`)}`)
  const data = body.json ? payloadOf(body, entries) : pairs.map(([name, value]) => text(name, value)).join()
  return [`--header ${quoted(`Content-Type: ${body.type}`)}`, `--data-binary ${quoted(data)}`]
}

async function copy({ currentTarget: button }, line) {
  try {
    await navigator.clipboard.writeText(line.textContent)
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = 'Copy'), 1500)
  } catch {
    // Plain http has no clipboard: mark the text, so that the usual keys copy it.
    getSelection().selectAllChildren(line)
  }
}

function fieldView(field, at) {
  field.schema = flatten(field.schema)
  field.input = control(field, `field-${at}`)
  const mark = field.required && h('span.required', 'required')
  const label = h('label', { for: `field-${at}` }, h('code', field.name), mark)
  return h('div.field', label, field.input)
}

function tokenField() {
  // Not a password field: browsers offer to keep those for good, and this one is to end with the session.
  const props = { id: 'token', type: 'text', autocomplete: 'off', spellcheck: 'false' }
  const keep = ({ target }) => {
    token = target.value.trim()
    stored((storage) => storage.setItem(TOKEN_KEY, token))
  }
  const input = h('input.secret', { ...props, placeholder: 'none: you call as anyone', input: keep })
  input.value = token
  return h('div.field', h('label', { for: 'token' }, 'Token'), input)
}

export function tryView(operation, body) {
  const whole = body && { name: 'body', in: 'body', schema: body.schema, required: body.required }
  const fields = [...operation.parameters, ...present([body?.fields || whole])].map((field) => ({ ...field }))
  const views = fields.map(fieldView)
  const needed = views.filter((_, i) => fields[i].required)
  const spare = views.filter((_, i) => !fields[i].required)
  const line = h('code')
  const show = () => (line.textContent = curlLine(operation, body, fields))
  const button = h('button.send', `Send ${operation.method.toUpperCase()}`)
  const output = h('div.output', { role: 'status' })
  const submit = async (event) => {
    event.preventDefault()
    if (operation.method === 'delete' && !confirm(`Send DELETE ${assemble(operation, fields).target}?`))
      return
    button.disabled = true
    output.replaceChildren(...present(await answerTo(operation, body, fields)))
    button.disabled = false
  }
  const open = spare.length < 6
  const more = spare.length > 0 && h('details', { open }, h('summary', `Optional (${spare.length})`), spare)
  const form = h(`form.${operation.method}`, { input: show, submit }, tokenField(), needed, more, button)
  show()
  const copier = h('button', { type: 'button', click: (event) => copy(event, line) }, 'Copy')
  const head = h('div.rail-head', h('h2', 'curl'), copier)
  return [head, codeBox('curl line', line), h('h2', 'Try it'), form, output]
}

async function answerTo(operation, body, fields) {
  const { target, headers, entries } = assemble(operation, fields)
  const payload = body && (entries.length || body.required) ? payloadOf(body, entries) : undefined
  // A form's type is for the browser to write: it holds the boundary.
  if (payload !== undefined && !body.form) headers['Content-Type'] = body.type
  if (token) headers['PRIVATE-TOKEN'] = token
  const started = performance.now()
  try {
    // Cookies stay out, so that what the form shows is all that decides the answer.
    const how = { headers, body: payload, credentials: 'omit', cache: 'no-store' }
    const answer = await fetch(API_ROOT + target, { method: operation.method.toUpperCase(), ...how })
    const blob = await answer.blob()
    return answerView(answer, blob, await answerText(blob), Math.round(performance.now() - started))
  } catch (error) {
    return h('p.note', `The request failed: ${error.message}`)
  }
}

async function answerText(blob) {
  if (!blob.size) return ''
  const type = blob.type || 'an unnamed type'
  if (!/json|text|xml|yaml/.test(type)) return `(${blob.size} bytes of ${type})`
  const text = await blob.text()
  const value = /json/.test(type) ? parsed(text) : undefined
  const pretty = value === undefined ? text : JSON.stringify(value, null, 2)
  const rest = pretty.length - SHOWN_CHARACTERS
  return rest > 0 ? `${pretty.slice(0, SHOWN_CHARACTERS)}\n… ${rest} more characters` : pretty
}

function answerView({ status, statusText, headers }, blob, text, elapsed) {
  const shown = [...headers].filter(([name]) => HEADERS_SHOWN.test(name))
  const size = blob.size < 1024 ? `${blob.size} B` : `${(blob.size / 1024).toFixed(1)} kB`
  const head = h(`span.status.s${String(status)[0]}`, `${status} ${statusText}`)
  const box = text ? codeBox('Response body', paintedJson(text)) : h('p.quiet', 'No body')
  return [h('p.answer', head, h('span.quiet', `${elapsed} ms · ${size}`)), facts(...shown), box]
}
