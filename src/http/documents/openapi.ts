import { isOutside, withoutBase } from '../server/addresses.ts'
import { Type as t, type TObject, type TSchema } from 'typebox'
import { gatesOf, pageOptionsOf, successOf, type NamedOperation } from '../operation.ts'
import { requiredOf } from '../params/params.ts'
import { nameComponents } from './openapi_components.ts'
import { mayMove, refusals, takesKey } from './openapi_refusals.ts'
import { publishedPageParams } from '../answers/pages.ts'

type Json = Record<string, unknown>

/** Inbound bodies are read by their content, whatever their media type. */
const ANY_BODY: Json = { content: { '*/*': { schema: {} } } }

/**
 * The whole interface as OpenAPI 3.1, derived from the operations for one server's address. `about` has a sentence on each
 * area, in the order of the document.
 */
export function openapi(
  operations: readonly NamedOperation[],
  server: string,
  about: Readonly<Record<string, string>>,
): Json {
  const paths: Record<string, Json> = {}
  for (const op of inOrder(operations)) {
    const isBeside = isOutside(op.path)
    const path = (isBeside ? withoutBase(op.path) : op.path).replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = {
      ...(isBeside && { servers: [{ url: server }] }),
      ...paths[path],
      [op.method.toLowerCase()]: describe(op),
    }
  }
  return nameComponents({
    openapi: '3.1.0',
    info: {
      title: 'Guildhall',
      version: 'v4',
      description: 'Groups, projects, repositories and what grows around them. Every GET answers HEAD too.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${server}/api/v4` }],
    security: [{ privateToken: [] }, { bearer: [] }, {}],
    tags: Object.entries(about)
      .filter(([name]) => operations.some((op) => op.area === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        privateToken: { type: 'apiKey', in: 'header', name: 'PRIVATE-TOKEN' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
      parameters: { IdempotencyKey },
      schemas: { Message, Error, TokenError },
    },
  })
}

const KEY: Json = { $ref: '#/components/parameters/IdempotencyKey' }
const IdempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Names one attempt. For 24 hours the same request with the same key gets the first answer again, with the header ' +
    '`Idempotent-Replayed: true`, and has no further effect.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
}

const Message: Json = {
  type: 'object',
  description: 'The service refuses. `message` is a text, or attribute to texts.',
  required: ['message'],
  properties: {
    message: {
      oneOf: [
        { type: 'string' },
        { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
      ],
    },
  },
}
const Error: Json = {
  type: 'object',
  description: 'A parameter or the address is wrong.',
  required: ['error'],
  properties: { error: { type: 'string' } },
}
const TokenError: Json = {
  type: 'object',
  description: 'The token was found and will not do.',
  required: ['error', 'error_description'],
  properties: { error: { type: 'string' }, error_description: { type: 'string' }, scope: { type: 'string' } },
}

/** By area, path and method, so that a change shows where it is and nowhere else. */
export const inOrder = (operations: readonly NamedOperation[]): NamedOperation[] =>
  operations.toSorted(
    (a, b) => compare(a.area, b.area) || compare(a.path, b.path) || compare(a.method, b.method),
  )
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function describe(op: NamedOperation): Json {
  const { query, body } = inputs(op)
  const gates = gatesOf(op)
  return {
    operationId: op.name,
    tags: [op.area],
    summary: op.summary,
    ...(op.deprecated && { deprecated: true }),
    description: `Passes: ${gates.map((gate) => gate.says).join('; ')}.`,
    parameters: [...pathParameters(op), ...query, ...(takesKey(op) ? [KEY] : [])],
    ...((op.inbound || op.ownToken) && { security: [] }),
    ...(op.inbound && { requestBody: ANY_BODY }),
    ...(body && !op.inbound && { requestBody: body }),
    responses: { ...successes(op), ...ledOn(op), ...refusals(op) },
    'x-permission': gates.filter((gate) => gate.kind === 'allows').map((gate) => gate.says),
    'x-tier': gates.find((gate) => gate.tier !== undefined)?.tier ?? 'free',
    'x-provenance': op.published ? 'published' : 'specified',
  }
}

function pathParameters(op: NamedOperation): Json[] {
  const types = new Map<string, TSchema>(
    gatesOf(op).flatMap(({ param, type }) => (param && type ? [[param, type] as const] : [])),
  )
  return [...op.path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const schema = types.get(name) ?? op.params?.properties?.[name] ?? t.String()
    return { name, in: 'path', required: true, ...described(schema) }
  })
}

const described = (schema: TSchema): Json => {
  const { description, deprecated, ...rest } = schema as { description?: string; deprecated?: true } & Json
  return { ...(description && { description }), ...(deprecated && { deprecated }), schema: rest }
}

/** Every parameter may come by the query; those of a write may come by the body too, and usually do. */
function inputs(op: NamedOperation): { query: Json[]; body: Json | undefined } {
  const page = pageOptionsOf(op.returns)
  const inPath = new Set([...op.path.matchAll(/:(\w+)/g)].map(([, name]) => name))
  const all = { ...op.params?.properties, ...(page && publishedPageParams(page).properties) } as Record<
    string,
    TSchema
  >
  const names = Object.keys(all).filter((name) => !inPath.has(name))
  const required = new Set(requiredOf(op.params))
  if (op.method === 'GET' || op.method === 'DELETE' || op.receives !== undefined)
    return {
      body: op.receives && {
        required: true,
        content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
      },
      query: names.map((name) => ({
        name: isList(all[name]) ? `${name}[]` : name,
        in: 'query',
        required: required.has(name),
        ...described(all[name] ?? t.String()),
      })),
    }
  if (names.length === 0) return { query: [], body: undefined }
  const {
    atLeastOne,
    exactlyOne,
    atMostOne: _atMostOne,
    ...options
  } = op.params as TObject & Record<string, unknown>
  const schema = {
    ...options,
    properties: Object.fromEntries(names.map((name) => [name, withoutDefaulted(all[name])])),
    required: names.filter((name) => required.has(name)),
    ...anyOf(atLeastOne),
    ...anyOf(exactlyOne),
  }
  const types = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data']
  return {
    query: [],
    body: {
      required: required.size > 0,
      content: Object.fromEntries(types.map((type) => [type, { schema }])),
    },
  }
}

/** A nested object as callers may send it: a property with a default may be left out. */
function withoutDefaulted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutDefaulted)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, withoutDefaulted(one)]))
  return 'properties' in schema && 'required' in schema
    ? { ...copy, required: requiredOf(schema as TObject) }
    : copy
}

const isList = (schema: TSchema | undefined): boolean =>
  schema !== undefined && 'type' in schema && schema.type === 'array'
const anyOf = (names: unknown): Json =>
  Array.isArray(names) ? { anyOf: names.map((name: string) => ({ required: [name] })) } : {}

const PAGE_HEADERS = [
  'Link',
  'X-Page',
  'X-Per-Page',
  'X-Next-Page',
  'X-Prev-Page',
  'X-Total',
  'X-Total-Pages',
]

function successes(op: NamedOperation): Json {
  const usual = successOf(op)
  const headers = pageOptionsOf(op.returns) && {
    headers: Object.fromEntries(PAGE_HEADERS.map((name) => [name, { schema: { type: 'string' } }])),
  }
  const answer = (schema: TSchema | null): Json => ({
    description: schema === null ? 'No content' : 'Success',
    ...headers,
    ...(schema && { content: { [mediaTypeOf(schema)]: { schema } } }),
  })
  const rest = Object.entries(op.also ?? {}).map(([status, schema]) => [status, answer(schema)])
  return { [usual]: answer(usual === 204 ? null : op.returns), ...Object.fromEntries(rest) }
}

/** The record at this address has another address now. */
const ledOn = (op: NamedOperation): Json =>
  op.method === 'GET' && mayMove(op)
    ? { 301: { description: 'The project has moved', headers: { Location: { schema: { type: 'string' } } } } }
    : {}

const mediaTypeOf = (schema: TSchema): string =>
  'format' in schema && schema.format === 'binary' ? 'application/octet-stream' : 'application/json'
