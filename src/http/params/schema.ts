import type { LongText } from './long_text.ts'
import {
  Type as t,
  type Static,
  type TArray,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
} from 'typebox'

// The few schemas that every area needs, so that one kind of value has one form in types, checks and documents.

/** `T` or null, written as a JSON Schema type list: serialisers are much faster on it than on `anyOf`. */
export const nullable = <T extends TSchema>(schema: T): TUnsafe<Static<T> | null> => {
  const { type, ...rest } = schema as unknown as { type?: string }
  return t.Unsafe(
    type === undefined ? { anyOf: [schema, { type: 'null' }] } : { ...rest, type: [type, 'null'] },
  )
}

/** One of a few words. */
export const oneOf = <const T extends readonly string[]>(
  values: T,
  options: { default?: T[number]; description?: string } = {},
): TUnsafe<T[number]> => t.Unsafe({ type: 'string', enum: [...values], ...options })

/** The names of a table that has these and no others, as a list of words. */
export const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>): Key[] =>
  Object.keys(table) as Key[]

/** A timestamp in an answer: handlers give a Date, the serialiser writes `2026-01-31T08:00:00.000Z`. */
export const moment = (): TUnsafe<Date | string> => t.Unsafe({ type: 'string', format: 'date-time' })
/** A timestamp in a request, kept as sent. */
export const timestamp = (): TUnsafe<string> => t.Unsafe({ type: 'string', format: 'date-time' })
/** `2026-01-31`, sent and received. */
export const date = (): TUnsafe<string> => t.Unsafe({ type: 'string', format: 'date' })

/** Parameters that change a record: each may be left out, and none has a default. */
export const changesOf = <P extends TProperties>(fields: P): { [K in keyof P]: TOptional<P[K]> } =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const { default: _default, ...rest } = field as { default?: unknown }
      return [name, t.Optional(t.Unsafe(rest))]
    }),
  ) as unknown as { [K in keyof P]: TOptional<P[K]> }

/** A list parameter; `1,2` is taken for `[1, 2]`. */
export const listOf = <T extends TSchema>(items: T): TArray<T> => t.Array(items, { commas: true })

/** A picture: empty takes it away, as published; none can be sent yet. */
export const noAvatar = t.Optional(
  t.Unsafe<string | null>({
    type: ['string', 'null'],
    pattern: '^$',
    description: 'Empty takes the picture away; none can be sent yet',
  }),
)

/** A string that may not be blank. */
export const filled = (): TUnsafe<string> => t.Unsafe({ type: 'string', minLength: 1 })

/** A text of any length that goes into a file: sent long enough, it lies on disk. */
export const fileText = (options: { description?: string } = {}): TUnsafe<string | LongText | null> =>
  t.Unsafe({ type: ['string', 'null'], long: true, ...options })

/** Fields that an object needs by the value of one of them: `needs('action', { move: ['previous_path'] })`. */
export const needs = (
  by: string,
  when: Readonly<Record<string, readonly string[]>>,
): Record<string, unknown> => ({
  needs: { by, when },
  allOf: Object.entries(when).map(([value, required]) => ({
    anyOf: [{ properties: { [by]: { not: { const: value } } } }, { required }],
  })),
})

/** `custom_attributes[key]=value`: what the records of a list must have. */
export const attributesParam: TOptional<TUnsafe<Record<string, unknown>>> = t.Optional(
  t.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'For administrators',
  }),
)
