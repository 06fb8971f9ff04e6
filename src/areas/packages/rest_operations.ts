import { Type as t } from 'typebox'
import { group, insideGroup, maintainer, project } from '../../access/gates/gates.ts'
import { mayDelete, readsPackages } from '../../access/gates/package_gates.ts'
import type { Project } from '../../core/places/projects.ts'
import { openTo } from '../../core/sight/roles.ts'
import type { Package as PackageRow } from '../../db/schema/packages.ts'
import { bytes, type Download } from '../../http/answers/download.ts'
import { loads, type Context, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { forbidden, noSuchRecord, type Problem } from '../../http/problems.ts'
import { oneOf } from '../../http/params/schema.ts'
import { enqueue } from '../../jobs/job.ts'
import { rewriteMavenMetadata } from '../../packages/maven_metadata.ts'
import { PACKAGE_TYPES } from '../../packages/names.ts'
import { isProtected } from '../../packages/protection.ts'
import * as packages from '../../packages/store.ts'
import { Package, PackageFile, presentFile, presentPackage, presentVersion } from './entity.ts'
import * as lists from './list_store.ts'
import { DISPLAYED, noPackage, packageOf } from './gates.ts'
import { serveFile } from './serving.ts'

const STATUSES = ['default', 'hidden', 'processing', 'error', 'pending_destruction', 'deprecated'] as const
const sort = t.Optional(oneOf(['asc', 'desc'], { default: 'asc' }))

const filters = {
  sort,
  package_type: t.Optional(oneOf(PACKAGE_TYPES)),
  package_name: t.Optional(t.String({ description: 'Part of the name' })),
  package_version: t.Optional(t.String()),
  include_versionless: t.Optional(t.Boolean({ default: false })),
  status: t.Optional(oneOf(STATUSES)),
}

interface Filters {
  readonly package_type?: string
  readonly package_name?: string
  readonly package_version?: string
  readonly status?: string
}
const valuesOf = (
  params: Filters,
  page: { readonly limit: number; readonly offset: number },
): lists.ListValues => ({
  package_type: params.package_type ?? null,
  package_name: params.package_name ?? null,
  package_version: params.package_version ?? null,
  status: params.status ?? null,
  limit: page.limit,
  offset: page.offset,
})

const packageFile = loads({
  param: 'package_file_id',
  type: t.Integer(),
  as: 'file',
  says: 'a file of the package',
  missing: noSuchRecord,
  find: ({ db, pack }: Has<{ pack: PackageRow }>, id) => packages.findFileById(db, pack.id, id),
})

export const listProjectPackages = operation({
  method: 'GET',
  path: '/projects/:id/packages',
  summary: 'List the packages of a project',
  published: true,
  jobTokens: true,
  params: t.Object({ order_by: t.Optional(oneOf(lists.ORDERS, { default: 'created_at' })), ...filters }),
  gates: [project, readsPackages],
  handle: async ({ db, config, actor, project, params, page }) => {
    const { order_by = 'created_at', sort = 'asc', include_versionless = false } = params
    const values = { ...valuesOf(params, page), project_id: project.id }
    const found = await lists.listOfProject(db, { order_by, sort, include_versionless }, values)
    const shown = { url: config.url, deletable: mayDelete({ actor }, project) }
    return { ...found, items: found.items.map((row) => presentPackage(row, shown)) }
  },
  returns: pageOf(Package),
})

export const listGroupPackages = operation({
  method: 'GET',
  path: '/groups/:id/packages',
  summary: 'List the packages of the projects of a group that the caller reads',
  published: true,
  params: t.Object({
    order_by: t.Optional(oneOf([...lists.ORDERS, 'project_path'], { default: 'created_at' })),
    ...filters,
    exclude_subgroups: t.Optional(t.Boolean({ default: false })),
  }),
  gates: [group, insideGroup],
  handle: async ({ db, config, actor, group, params, page }) => {
    const {
      order_by = 'created_at',
      sort = 'asc',
      include_versionless = false,
      exclude_subgroups = false,
    } = params
    const everything = actor?.admin === true
    const shape = { order_by, sort, include_versionless, exclude_subgroups, everything }
    const caller = { user_id: actor?.id ?? null, open_to: openTo(actor) }
    const found = await lists.listOfGroup(db, shape, {
      ...valuesOf(params, page),
      ...caller,
      group_id: group.id,
    })
    const shown = { url: config.url, deletable: mayDelete({ actor }, group) }
    return {
      ...found,
      items: found.items.map((row) =>
        Object.assign(presentPackage(row, shown), {
          project_id: row.project_id,
          project_path: row.project_path,
        }),
      ),
    }
  },
  returns: pageOf(Package),
})

export const getProjectPackage = operation({
  method: 'GET',
  path: '/projects/:id/packages/:package_id',
  summary: 'Get a package with the other versions of its name',
  published: true,
  jobTokens: true,
  gates: [project, readsPackages, packageOf],
  handle: async ({ db, config, actor, project, pack }) => {
    const row = DISPLAYED.has(pack.status) ? await lists.findListed(db, project.id, pack.id) : undefined
    if (row === undefined) throw noPackage()
    const shown = { url: config.url, deletable: mayDelete({ actor }, project) }
    const versions = await lists.listVersions(db, row)
    return { ...presentPackage(row, shown), versions: versions.map(presentVersion) }
  },
  returns: Package,
  refuses: [noPackage],
})

export const listPackageFiles = operation({
  method: 'GET',
  path: '/projects/:id/packages/:package_id/package_files',
  summary: 'List the files of a package',
  published: true,
  jobTokens: true,
  params: t.Object({ order_by: t.Optional(oneOf(lists.FILE_ORDERS, { default: 'id' })), sort }),
  gates: [project, readsPackages, packageOf],
  handle: async ({ db, pack, params: { order_by = 'id', sort = 'asc' }, page }) => {
    const values = { package_id: pack.id, limit: page.limit, offset: page.offset }
    const found = await lists.listFiles(db, { order_by, sort }, values)
    return { ...found, items: found.items.map(presentFile) }
  },
  returns: pageOf(PackageFile),
})

export const getPackageFile = operation({
  method: 'GET',
  path: '/projects/:id/packages/:package_id/package_files/:package_file_id/download',
  summary: 'Download a file of a package',
  published: true,
  jobTokens: true,
  gates: [project, readsPackages, packageOf, packageFile],
  handle: async (ctx): Promise<Download> => serveFile(ctx, ctx.file),
  returns: bytes(),
})

const protectedFromDeletion = (): Problem => forbidden('Package is deletion protected.')
async function checkDeletable(ctx: Context & { project: Project; pack: PackageRow }): Promise<void> {
  const { db, project, actor, pack } = ctx
  const question = { project, actor, type: pack.package_type, name: pack.name }
  if (await isProtected(db, 'delete', question)) throw protectedFromDeletion()
}

export const deleteProjectPackage = operation({
  method: 'DELETE',
  path: '/projects/:id/packages/:package_id',
  summary: 'Delete a package with its files',
  published: true,
  jobTokens: true,
  gates: [project, maintainer, packageOf],
  handle: async (ctx) => {
    await checkDeletable(ctx)
    const { db, project, pack } = ctx
    await packages.remove(db, project.id, pack.id)
    const { package_type, name, version } = pack
    if (package_type === 'maven' && version !== null)
      await enqueue(db, rewriteMavenMetadata, { project_id: project.id, name })
  },
  returns: nothing,
  refuses: [protectedFromDeletion],
})

export const deletePackageFile = operation({
  method: 'DELETE',
  path: '/projects/:id/packages/:package_id/package_files/:package_file_id',
  summary: 'Delete a file of a package',
  published: true,
  jobTokens: true,
  gates: [project, maintainer, packageOf, packageFile],
  handle: async (ctx) => {
    await checkDeletable(ctx)
    await packages.removeFile(ctx.db, ctx.pack.id, ctx.file.id)
  },
  returns: nothing,
  refuses: [protectedFromDeletion],
})
