import { Readable } from 'node:stream'
import { npmDocument, npmTarball } from '../support/npm_packages.ts'
import type { World } from '../support/world.ts'
import type { Calls } from './calls.ts'
import type { Scene } from './scene.ts'

const [VERSION, TAG] = ['1.0.0', 'known']
const npmName = ({ project }: Scene): string => `@${project.full_path.split('/')[0] ?? ''}/known`

/** The registries of npm, PyPI and Maven. */
export const registries: Calls = {
  inPrivate: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  updateNpmPackage              404 404 404 403 403 403 200 200 200 200 401
  getNpmPackage                 404 404 404 403 403 200 200 200 200 200 401
  getNpmPackageFile             404 404 404 403 403 200 200 200 200 200 404
  listNpmTags                   404 404 404 403 403 200 200 200 200 200 401
  setNpmTag                     404 404 404 403 403 403 204 204 204 204 401
  deleteNpmTag                  404 404 404 403 403 403 403 204 204 204 401
  checkNpmAdvisories            404 404 404 403 403 200 200 200 200 200 401
  checkNpmAudit                 404 404 404 403 403 200 200 200 200 200 401
  getGroupNpmPackage            404 404 403 404 404 200 200 200 200 200 401
  listGroupNpmTags              404 404 403 404 404 200 200 200 200 200 401
  getInstanceNpmPackage         404 404 404 404 404 200 200 200 200 200 404
  listInstanceNpmTags           404 404 404 404 404 200 200 200 200 200 404
`,
  inPublic: `
                               none   0   5  10  15  20  30  40  50 adm nobody
  updateNpmPackage              403 403 403 403 403 403 200 200 200 200 401
  getNpmPackage                 200 200 200 200 200 200 200 200 200 200 200
  getNpmPackageFile             200 200 200 200 200 200 200 200 200 200 200
  listNpmTags                   200 200 200 200 200 200 200 200 200 200 200
  setNpmTag                     403 403 403 403 403 403 204 204 204 204 401
  deleteNpmTag                  403 403 403 403 403 403 403 204 204 204 401
  checkNpmAdvisories            200 200 200 200 200 200 200 200 200 200 401
  checkNpmAudit                 200 200 200 200 200 200 200 200 200 200 401
  getGroupNpmPackage            200 200 200 200 200 200 200 200 200 200 200
  listGroupNpmTags              200 200 200 200 200 200 200 200 200 200 200
  getInstanceNpmPackage         200 200 200 200 200 200 200 200 200 200 200
  listInstanceNpmTags           200 200 200 200 200 200 200 200 200 200 200
`,
  bodies: {
    updateNpmPackage: (scene) => npmDocument({ name: npmName(scene), version: '2.0.0', tag: 'next' }),
    setNpmTag: `"${VERSION}"`,
  },
  reads: ['checkNpmAdvisories', 'checkNpmAudit'],
  set: async (world, scene, operation) => {
    await world.make.sql(`delete from packages where project_id = ${scene.project.id}`)
    const name = npmName(scene)
    const file_name = await setNpm(world, scene, name)
    return {
      package_name: name,
      file_name,
      tag: operation === 'setNpmTag' ? 'other' : TAG,
    }
  },
}

async function setNpm(world: World, { project }: Scene, name: string): Promise<string> {
  const tarball = npmTarball({ name, version: VERSION })
  const { blobs } = world.opened.instance
  const { sha256, size } = await blobs.write(Readable.from([tarball]), { limit: 100_000 })
  const file_name = `${name}-${VERSION}.tgz`
  await world.make.sql(`
    with pack as (
      insert into packages (project_id, package_type, name, canonical_name, version, metadata, last_downloaded_at)
        values (${project.id}, 'npm', '${name}', '${name}', '${VERSION}', '{"dist": {}}', now())
        returning id
    ), file as (
      insert into package_files (package_id, project_id, file_name, size, file_sha256)
        select id, ${project.id}, '${file_name}', ${size}, '${sha256}' from pack
    )
    insert into package_tags (project_id, package_name, name, package_id)
      select ${project.id}, '${name}', '${TAG}', id from pack`)
  return file_name
}
