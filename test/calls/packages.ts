import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

/** Package protection rules. */
export const packages: Calls = {
  inPrivate: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  listPackageProtectionRules    404 404 404 403 403 403 403 200 200 200 401
  createPackageProtectionRule   404 404 404 403 403 403 403 201 201 201 401
  updatePackageProtectionRule   404 404 404 403 403 403 403 200 200 200 401
  deletePackageProtectionRule   404 404 404 403 403 403 403 204 204 204 401
`,
  inPublic: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  listPackageProtectionRules    403 403 403 403 403 403 403 200 200 200 401
  createPackageProtectionRule   403 403 403 403 403 403 403 201 201 201 401
  updatePackageProtectionRule   403 403 403 403 403 403 403 200 200 200 401
  deletePackageProtectionRule   403 403 403 403 403 403 403 204 204 204 401
`,
  bodies: {
    createPackageProtectionRule: {
      package_name_pattern: '@fresh/*',
      package_type: 'npm',
      minimum_access_level_for_push: 'owner',
    },
    updatePackageProtectionRule: { minimum_access_level_for_push: 'admin' },
  },
  set: async (world, { project }) => {
    await world.make.sql(`
      delete from package_protection_rules where project_id = ${project.id};
      insert into package_protection_rules
        (project_id, package_name_pattern, package_type, minimum_access_level_for_push)
        values (${project.id}, 'known-*', 'generic', 'maintainer')`)
    const rule = await rowOf<{ id: number }>(
      world,
      'select id from package_protection_rules where project_id = $1',
      [project.id],
    )
    return { package_protection_rule_id: String(rule.id) }
  },
}
