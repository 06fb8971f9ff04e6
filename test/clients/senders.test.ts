/* Programs that npm installs, unmodified, against the whole running program. */
import { test } from 'node:test'
import { PROGRAMS } from '../interop/programs.ts'
import { withTarget } from '../interop/target.ts'

for (const { name, tries, version, run } of PROGRAMS.filter((one) => one.name.startsWith('@')))
  test(`${name} ${version() ?? ''} ${tries}`, () => withTarget(run))
