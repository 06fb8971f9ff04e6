import { Readable } from 'node:stream'
import { rowOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

/** Packages, the generic registry, package protection rules. */
export const packages: Calls = {
  inPrivate: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  listPackageProtectionRules    404 404 404 403 403 403 403 200 200 200 401
  createPackageProtectionRule   404 404 404 403 403 403 403 201 201 201 401
  updatePackageProtectionRule   404 404 404 403 403 403 403 200 200 200 401
  deletePackageProtectionRule   404 404 404 403 403 403 403 204 204 204 401
  listProjectPackages           404 404 404 403 403 200 200 200 200 200 404
  listGroupPackages             404 404 403 200 200 200 200 200 200 200 404
  getProjectPackage             404 404 404 403 403 200 200 200 200 200 404
  listPackageFiles              404 404 404 403 403 200 200 200 200 200 404
  listPackagePipelines          404 404 404 403 403 200 200 200 200 200 404
  getPackageFile                404 404 404 403 403 200 200 200 200 200 404
  deleteProjectPackage          404 404 404 403 403 403 403 204 204 204 404
  deletePackageFile             404 404 404 403 403 403 403 204 204 204 404
  updateGenericPackageFile      404 404 404 403 403 403 201 201 201 201 401
  getGenericPackageFile         404 404 404 403 403 200 200 200 200 200 401
`,
  inPublic: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  listPackageProtectionRules    403 403 403 403 403 403 403 200 200 200 401
  createPackageProtectionRule   403 403 403 403 403 403 403 201 201 201 401
  updatePackageProtectionRule   403 403 403 403 403 403 403 200 200 200 401
  deletePackageProtectionRule   403 403 403 403 403 403 403 204 204 204 401
  listProjectPackages           200 200 200 200 200 200 200 200 200 200 200
  listGroupPackages             200 200 200 200 200 200 200 200 200 200 200
  getProjectPackage             200 200 200 200 200 200 200 200 200 200 200
  listPackageFiles              200 200 200 200 200 200 200 200 200 200 200
  listPackagePipelines          200 200 200 200 200 200 200 200 200 200 200
  getPackageFile                200 200 200 200 200 200 200 200 200 200 200
  deleteProjectPackage          403 403 403 403 403 403 403 204 204 204 403
  deletePackageFile             403 403 403 403 403 403 403 204 204 204 403
  updateGenericPackageFile      403 403 403 403 403 403 201 201 201 201 401
  getGenericPackageFile         200 200 200 200 200 200 200 200 200 200 200
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
    const text = `the file of ${project.id}`
    const { blobs } = world.opened.instance
    const { sha256, size } = await blobs.write(Readable.from([Buffer.from(text)]), { limit: 1_000 })
    await world.make.sql(`
      delete from packages where project_id = ${project.id};
      with pack as (
        insert into packages (project_id, package_type, name, canonical_name, version, last_downloaded_at)
          values (${project.id}, 'generic', 'known', 'known', '1.0', now()) returning id
      )
      insert into package_files (package_id, project_id, file_name, size, file_sha256)
        select id, ${project.id}, 'file.txt', ${size}, '${sha256}' from pack;
      delete from package_protection_rules where project_id = ${project.id};
      insert into package_protection_rules
        (project_id, package_name_pattern, package_type, minimum_access_level_for_push)
        values (${project.id}, 'known-*', 'generic', 'maintainer')`)
    const rule = await rowOf<{ id: number }>(
      world,
      'select id from package_protection_rules where project_id = $1',
      [project.id],
    )
    const file = await rowOf<{ id: number; package_id: number }>(
      world,
      'select id, package_id from package_files where project_id = $1',
      [project.id],
    )
    return {
      package_protection_rule_id: String(rule.id),
      package_id: String(file.package_id),
      package_file_id: String(file.id),
      package_name: 'known',
      package_version: '1.0',
      file_name: 'file.txt',
    }
  },
}
