import { Type as t, type Static } from 'typebox'
import { maintainer, project, signedIn } from '../../access/gates/gates.ts'
import { selfManaged } from '../../access/tiers.ts'
import type { Project } from '../../core/places/projects.ts'
import { violates } from '../../db/errors.ts'
import type { PackageProtectionRule as RuleRow } from '../../db/schema/packages.ts'
import { loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { presentPage } from '../../http/answers/pages.ts'
import { unprocessable, type Problem } from '../../http/problems.ts'
import { keysOf, nullable, oneOf } from '../../http/params/schema.ts'
import { PROTECTION_LEVELS } from '../../packages/protection.ts'
import { PROTECTED_TYPES, patternFaults } from './rules.ts'
import * as rules from './store.ts'

const LEVELS = keysOf(PROTECTION_LEVELS)
const minimum_access_level_for_delete = t.Optional(
  nullable(oneOf(LEVELS, { description: 'Who may delete such packages; null for every Maintainer' })),
)

const Rule = t.Object({
  id: t.Integer(),
  project_id: t.Integer(),
  package_name_pattern: t.String(),
  package_type: t.String(),
  minimum_access_level_for_push: t.String(),
  // The specified record has no such field: it is there where a rule protects deletion.
  minimum_access_level_for_delete: t.Optional(t.String()),
})

const present = (row: RuleRow): Static<typeof Rule> => {
  const { id, project_id, package_name_pattern, package_type, minimum_access_level_for_push } = row
  const known = { id, project_id, package_name_pattern, package_type, minimum_access_level_for_push }
  const level = row.minimum_access_level_for_delete
  return level === null ? known : { ...known, minimum_access_level_for_delete: level }
}

const fields = {
  package_name_pattern: t.String({ description: 'A name in which * stands for any characters' }),
  package_type: oneOf(PROTECTED_TYPES),
  minimum_access_level_for_push: oneOf(LEVELS),
}

const packageProtectionRule = loads({
  param: 'package_protection_rule_id',
  type: t.Integer(),
  as: 'rule',
  says: 'a package protection rule of the project',
  find: ({ db, project }: Has<{ project: Project }>, id) => rules.find(db, { project_id: project.id, id }),
})

const first = [selfManaged] as const
/** As published, a rule id that is no number is refused before anybody is asked for. */
const gates = [signedIn, project, maintainer] as const
const ofOne = [...gates, packageProtectionRule] as const

const faulty = (texts: readonly string[]): Problem => unprocessable({ error: texts })
const taken = (): Problem => faulty(['Package name pattern has already been taken'])
const blank = (): Problem => faulty(["Package name pattern can't be blank"])

/** Runs what writes a rule, once its pattern is one; a pattern that the project has already is refused. */
async function checked<Written>(values: rules.RuleValues, write: () => Promise<Written>): Promise<Written> {
  const faults = patternFaults(values.package_type, values.package_name_pattern)
  if (faults.length > 0) throw faulty(faults)
  return write().catch((error: unknown) => {
    throw violates(error, 'package_protection_rules_pattern_key') ? taken() : error
  })
}

export const listPackageProtectionRules = operation({
  method: 'GET',
  path: '/projects/:id/packages/protection/rules',
  summary: 'List the package protection rules of a project',
  first,
  gates,
  handle: async ({ db, project, page }) => {
    const found = await rules.list(db, project.id, page)
    return presentPage(found, present)
  },
  returns: pageOf(Rule),
})

export const createPackageProtectionRule = operation({
  method: 'POST',
  path: '/projects/:id/packages/protection/rules',
  summary: 'Protect the packages of a project whose names match a pattern',
  first,
  params: t.Object({ ...fields, minimum_access_level_for_delete }),
  gates,
  handle: async ({ db, project, params }) => {
    const values = { project_id: project.id, minimum_access_level_for_delete: null, ...params }
    return present(await checked(values, () => rules.insert(db, values)))
  },
  returns: Rule,
  refuses: [taken, blank],
})

export const updatePackageProtectionRule = operation({
  method: 'PATCH',
  path: '/projects/:id/packages/protection/rules/:package_protection_rule_id',
  summary: 'Change a package protection rule',
  first,
  params: t.Object({
    package_name_pattern: t.Optional(fields.package_name_pattern),
    package_type: t.Optional(fields.package_type),
    minimum_access_level_for_push: t.Optional(fields.minimum_access_level_for_push),
    minimum_access_level_for_delete,
  }),
  gates: ofOne,
  handle: async ({ db, rule, params }) => {
    const values = { ...rule, ...params }
    return present(await checked(values, () => rules.update(db, values)))
  },
  returns: Rule,
  refuses: [taken, blank],
})

export const deletePackageProtectionRule = operation({
  method: 'DELETE',
  path: '/projects/:id/packages/protection/rules/:package_protection_rule_id',
  summary: 'Remove a package protection rule',
  first,
  // None of its own, but read where parameters are: before a caller without a token is refused.
  params: t.Object({}),
  gates: ofOne,
  handle: ({ db, rule }) => rules.remove(db, rule),
  returns: nothing,
})
