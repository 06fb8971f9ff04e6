import pg from 'pg'
import { types } from './types.ts'

/** Called with the code units of each text of a result as it arrives; what it throws ends the statement. */
export type CountText = (length: number) => void

const { BOOL, DATE, FLOAT8, INT2, INT4, INT8, NUMERIC, TIMESTAMPTZ } = pg.types.builtins
const SHORT = new Set<number>([BOOL, DATE, FLOAT8, INT2, INT4, INT8, NUMERIC, TIMESTAMPTZ])

/** The driver's parsers, which count what they parse: after an error of one the driver drops the rows that follow. */
export const countedTypes = (count: CountText): pg.CustomTypesConfig => ({
  getTypeParser: ((oid: number, format?: 'text') => {
    const parse = types.getTypeParser(oid, format) as (text: string) => unknown
    if (SHORT.has(oid)) return parse
    return (text: string) => {
      count(text.length)
      return parse(text)
    }
  }) as pg.CustomTypesConfig['getTypeParser'],
})
