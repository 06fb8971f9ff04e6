import pg from 'pg'
import { parseMoment } from '../moment.ts'

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.DATE]: (text) => text,
  [pg.types.builtins.TIMESTAMPTZ]: parseMoment,
  1016: (text) => JSON.parse(`[${text.slice(1, -1)}]`),
}
// Ids and counts are numbers here (far below 2^53), dates stay `YYYY-MM-DD`, the rest is as the driver has it.
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    parsers[oid] ?? pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig['getTypeParser'],
}
