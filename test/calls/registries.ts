import { Readable } from 'node:stream'
import { FORM_TYPE, formOf } from '../support/forms.ts'
import { npmDocument } from '../support/npm_packages.ts'
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
  createPypiPackageFile         404 404 404 403 403 403 201 201 201 201 401
  listPypiPackages              404 404 404 403 403 200 200 200 200 200 401
  getPypiPackage                404 404 404 403 403 200 200 200 200 200 401
  getPypiPackageFile            404 404 404 403 403 200 200 200 200 200 401
  listGroupPypiPackages         404 404 403 200 200 200 200 200 200 200 401
  getGroupPypiPackage           404 404 403 404 404 200 200 200 200 200 401
  getGroupPypiPackageFile       404 404 403 404 404 200 200 200 200 200 401
  updateMavenPackageFile        404 404 404 403 403 403 200 200 200 200 401
  getMavenPackageFile           404 404 404 403 403 200 200 200 200 200 401
  getGroupMavenPackageFile      404 404 403 404 404 200 200 200 200 200 401
  getInstanceMavenPackageFile   403 403 403 403 403 200 200 200 200 200 401
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
  createPypiPackageFile         403 403 403 403 403 403 201 201 201 201 401
  listPypiPackages              200 200 200 200 200 200 200 200 200 200 200
  getPypiPackage                200 200 200 200 200 200 200 200 200 200 200
  getPypiPackageFile            200 200 200 200 200 200 200 200 200 200 200
  listGroupPypiPackages         200 200 200 200 200 200 200 200 200 200 200
  getGroupPypiPackage           200 200 200 200 200 200 200 200 200 200 200
  getGroupPypiPackageFile       200 200 200 200 200 200 200 200 200 200 200
  updateMavenPackageFile        403 403 403 403 403 403 200 200 200 200 401
  getMavenPackageFile           200 200 200 200 200 200 200 200 200 200 200
  getGroupMavenPackageFile      200 200 200 200 200 200 200 200 200 200 200
  getInstanceMavenPackageFile   200 200 200 200 200 200 200 200 200 200 200
`,
  bodies: {
    updateNpmPackage: (scene) => npmDocument({ name: npmName(scene), version: '2.0.0', tag: 'next' }),
    setNpmTag: `"${VERSION}"`,
    updateMavenPackageFile: 'a jar',
    createPypiPackageFile: formOf(
      { name: 'known', version: '2.0' },
      { name: 'content', file_name: 'known-2.0.tar.gz', content: 'new' },
    ),
  },
  headers: {
    createPypiPackageFile: { 'content-type': FORM_TYPE },
    updateMavenPackageFile: { 'content-type': 'application/octet-stream' },
  },
  reads: ['checkNpmAdvisories', 'checkNpmAudit'],
  set: async (world, scene, operation) => {
    await world.make.sql(`delete from packages where project_id = ${scene.project.id}`)
    if (operation.includes('Pypi')) {
      const [name, file_name] = ['known', 'known-1.0.tar.gz']
      const sha256 = await setPackage(world, scene, { type: 'pypi', name, file_name })
      return { package_name: name, sha256, file_name }
    }
    if (operation.includes('Maven')) {
      const [name, file_name] = [scene.project.full_path, 'known-1.0.0.jar']
      await setPackage(world, scene, { type: 'maven', name, file_name })
      return { path: `${name}/${VERSION}/${file_name}` }
    }
    const name = npmName(scene)
    const file_name = `${name}-${VERSION}.tgz`
    await setPackage(world, scene, { type: 'npm', name, file_name })
    await world.make.sql(`
      insert into package_tags (project_id, package_name, name, package_id)
        select project_id, name, '${TAG}', id from packages where project_id = ${scene.project.id}`)
    return { package_name: name, file_name, tag: operation === 'setNpmTag' ? 'other' : TAG }
  },
}

interface Known {
  readonly type: 'npm' | 'pypi' | 'maven'
  readonly name: string
  readonly file_name: string
}
/** Publishes a file as if nobody had downloaded it for a while; answers its digest. */
async function setPackage(world: World, { project }: Scene, known: Known): Promise<string> {
  const { blobs } = world.opened.instance
  const bytes = Buffer.from(`the file of ${project.id}`)
  const { md5, sha1, sha256, size } = await blobs.write(Readable.from([bytes]), { limit: 1_000 })
  const { type, name, file_name } = known
  await world.make.sql(`
    with pack as (
      insert into packages (project_id, package_type, name, canonical_name, version, metadata, last_downloaded_at)
        values (${project.id}, '${type}', '${name}', '${name}', '${VERSION}', '{"dist": {}}', now())
        returning id
    )
    insert into package_files (package_id, project_id, file_name, size, file_md5, file_sha1, file_sha256)
      select id, ${project.id}, '${file_name}', ${size}, '${md5}', '${sha1}', '${sha256}' from pack`)
  return sha256
}
