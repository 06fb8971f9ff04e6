/* Programs that come with Node or the system, unmodified, against the whole running program. */
import { test } from 'node:test'
import { REGISTRY_PROGRAMS } from '../interop/registries.ts'
import { withRegistry } from '../interop/registry_target.ts'

for (const { name, tries, version, run } of REGISTRY_PROGRAMS.filter((one) => /^(npm|curl)$/.test(one.name)))
  test(`${name} ${tries}`, { skip: version() === undefined }, () => withRegistry(run))
