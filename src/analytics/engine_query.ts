// Which queries of the analytics engine a project may make: their members are of the cubes that projects have.

/** A query as sent: any JSON object. */
export type EngineQuery = Readonly<Record<string, unknown>>

/** A query that is not passed on. Its text is the engine's own: a cube outside the list looks like an absent one. */
export class QueryRefusal extends Error {}

const GRANULARITIES = new Set(['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'])

const KEYS = new Set(
  (
    'measures dimensions segments timeDimensions filters order limit offset total timezone renewQuery ungrouped ' +
    'responseFormat rowLimit cache'
  ).split(' '),
)

/** Throws QueryRefusal for a query with a member of another cube, or with a key that may name one. */
export function checkQuery(query: EngineQuery, cubes: readonly string[]): void {
  for (const key of Object.keys(query))
    if (!KEYS.has(key)) throw new QueryRefusal(`Invalid query format: "${key}" is not allowed`)
  for (const member of membersOf(query)) checkMember(member, cubes)
}

function checkMember(member: unknown, cubes: readonly string[]): void {
  const [cube = '', name, granularity, ...rest] = typeof member === 'string' ? member.split('.') : []
  const isMember = name !== undefined && [cube, name].every((part) => /^[A-Za-z_]\w*$/.test(part))
  const isSound = rest.length === 0 && (granularity === undefined || GRANULARITIES.has(granularity))
  if (typeof member !== 'string' || !isMember || !isSound)
    throw new QueryRefusal(`Invalid query format: a member has the form "Cube.member"`)
  if (!cubes.includes(cube)) throw new QueryRefusal(`Cube '${cube}' not found for path '${member}'`)
}

/** Every place of a query that names a member; what is no list of the expected form counts as a member, and is none. */
function membersOf({
  measures,
  dimensions,
  segments,
  timeDimensions,
  filters,
  order,
}: EngineQuery): unknown[] {
  return [
    ...[measures, dimensions, segments].flatMap((list) => list ?? []),
    ...listOf(timeDimensions).map((one) => fieldsOf(one)['dimension']),
    ...listOf(filters).flatMap(inFilter),
    ...inOrder(order),
  ]
}

function inFilter(filter: unknown): unknown[] {
  const { and, or, member, dimension } = fieldsOf(filter)
  const groups = [and, or].filter((group) => group !== undefined)
  const own = [member, dimension].filter((one) => one !== undefined)
  return groups.length + own.length === 0
    ? [undefined]
    : [...own, ...groups.flatMap(listOf).flatMap(inFilter)]
}

/** `{ member: direction }`, `[[member, direction]]` or `[{ id, desc }]`. */
function inOrder(order: unknown): unknown[] {
  if (order === undefined || order === null) return []
  if (!Array.isArray(order)) return Object.keys(fieldsOf(order))
  return order.map((one: unknown) => (Array.isArray(one) ? (one as unknown[])[0] : fieldsOf(one)['id']))
}

const listOf = (value: unknown): readonly unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]
const fieldsOf = (value: unknown): EngineQuery =>
  typeof value === 'object' && value !== null ? (value as EngineQuery) : {}
