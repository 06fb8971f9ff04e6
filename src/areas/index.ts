import type { AnyOperation, NamedOperation } from '../http/operation.ts'
import * as AREAS from './areas.ts'

type Operations = Readonly<Record<string, AnyOperation>>

/** Every operation of the service, named by its export. Throws when two bear one name. */
export const operations: readonly NamedOperation[] = Object.entries<Operations>(AREAS).flatMap(
  ([area, members]) => Object.entries(members).map(([name, operation]) => ({ ...operation, name, area })),
)

const names = new Set(operations.map((operation) => operation.name))
if (names.size !== operations.length) throw new Error('two operations bear one name')
