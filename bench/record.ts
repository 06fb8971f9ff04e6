import type { Db } from '../src/db/db.ts'
import { listed } from '../src/db/pages.ts'
import type { Statement } from '../src/db/statement.ts'

/** One statement as it was sent. */
export interface Recorded {
  readonly lane: 'one' | 'rows'
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

export interface Recorder {
  readonly db: Db
  /** Statements since the last call; concurrent ones form one wave. */
  readonly take: () => Recorded[][]
}

/** A database that writes down what it is asked to read. */
export function recorderOver(db: Db): Recorder {
  let waves: Recorded[][] = []
  let pending = 0
  const noted = async <Values extends object, Row, Result>(
    lane: Recorded['lane'],
    { name, text, bind }: Statement<Values, Row>,
    values: Values,
    run: () => Promise<Result>,
  ): Promise<Result> => {
    if (pending === 0) waves.push([])
    waves.at(-1)?.push({ lane, name, text, values: bind(values) })
    pending++
    try {
      return await run()
    } finally {
      pending--
    }
  }
  const rows: Db['rows'] = (statement, values) =>
    noted('rows', statement, values, () => db.rows(statement, values))
  return {
    db: {
      ...db,
      one: (statement, values) => noted('one', statement, values, () => db.one(statement, values)),
      rows,
      page: async (list, values) => listed(await rows(list, values)),
    },
    take: () => {
      const taken = waves
      waves = []
      return taken
    },
  }
}
