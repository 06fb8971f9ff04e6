import { Type as t } from 'typebox'
import { developer, project } from '../../access/gates/gates.ts'
import {
  CHALLENGE,
  deletesPackages,
  mayDelete,
  readsPackages,
  registryProject,
  withToken,
} from '../../access/gates/package_gates.ts'
import { bytes, type Download } from '../../http/answers/download.ts'
import { Answer, nothing, operation } from '../../http/operation.ts'
import { forbidden, unsupportedEncoding } from '../../http/problems.ts'
import * as npm from '../../packages/npm_store.ts'
import * as packages from '../../packages/store.ts'
import { Package, presentPackage } from './entity.ts'
import * as lists from './list_store.ts'
import { NpmMetadata, NpmTags, presentMetadata, presentTags } from './npm_metadata.ts'
import {
  badName,
  checkDeprecates,
  checkNpmName,
  existsElsewhere,
  notDeprecated,
  publishNpm,
  receiveNpm,
} from './npm_publishing.ts'
import {
  alreadyExists,
  noPackage,
  noPackages,
  notGiven,
  npmInvalid,
  npmNotFound,
  npmProtected,
  npmRefused,
  npmTooLarge,
} from './npm_refusals.ts'
import { serveFile } from './serving.ts'

const noProject = () => npmNotFound('Project')
const npmProject = { ...registryProject, refuses: noProject } as typeof registryProject
/** As published, a tarball is absent for callers without a token, who are not asked for one. */
const tarballProject = { ...project, refuses: noProject } as typeof project

const noTag = () => npmNotFound('Package tag')
const package_name = t.String({ description: 'With its scope, whose slash may be encoded' })
const common = { published: true, challenge: CHALLENGE, jobTokens: true, deployTokens: true } as const

export const updateNpmPackage = operation({
  method: 'PUT',
  path: '/projects/:id/packages/npm/:package_name',
  summary: 'Publish a version of an npm package, or deprecate versions',
  ...common,
  params: t.Object({ package_name }),
  gates: [withToken, npmProject, developer],
  receives: receiveNpm,
  handle: async (ctx) => {
    const { db, config, project, params, received } = ctx
    const name = { project_id: project.id, name: params.package_name }
    if (received.does === 'deprecate') {
      checkDeprecates(ctx)
      await npm.deprecate(db, name, received.texts)
    }
    const published = received.does === 'publish' ? await publishNpm(ctx, received) : undefined
    const id = published?.id ?? (await npm.findNewest(db, name))?.id
    const row = id === undefined ? undefined : await lists.findListed(db, project.id, id)
    if (row === undefined) throw noPackage()
    const shown = presentPackage(row, { url: config.url, deletable: mayDelete(ctx, project) })
    return new Answer(200, shown, published?.headers)
  },
  returns: Package,
  refuses: [
    npmRefused('Version is empty.'),
    npmTooLarge,
    alreadyExists,
    npmProtected,
    badName,
    existsElsewhere,
    npmInvalid('Version should follow SemVer: https://semver.org'),
    notDeprecated,
    noPackage,
  ],
})

export const getNpmPackage = operation({
  method: 'GET',
  path: '/projects/:id/packages/npm/:package_name',
  summary: 'Get the metadata of an npm package of a project',
  ...common,
  params: t.Object({ package_name }),
  gates: [npmProject, readsPackages],
  handle: async ({ db, config, project, params }) => {
    const name = checkNpmName(params.package_name)
    const versions = await npm.listVersions(db, { project_id: project.id, name })
    if (versions.length === 0) throw noPackages()
    return presentMetadata(name, versions, config.url)
  },
  returns: NpmMetadata,
  refuses: [noPackages],
})

export const getNpmPackageFile = operation({
  method: 'GET',
  path: '/projects/:id/packages/npm/:package_name/-/:file_name',
  summary: 'Download the tarball of a version of an npm package',
  ...common,
  params: t.Object({ package_name, file_name: t.String() }),
  gates: [tarballProject, readsPackages],
  handle: async (ctx): Promise<Download> => {
    const { db, project, params } = ctx
    const name = checkNpmName(params.package_name)
    const key = { project_id: project.id, package_type: 'npm', name, file_name: params.file_name } as const
    const file = await packages.findFileOfName(db, key)
    if (file === undefined) throw noPackage()
    return serveFile(ctx, file)
  },
  returns: bytes(),
  refuses: [noPackage],
})

const tags = '/projects/:id/packages/npm/-/package/:package_name/dist-tags'

export const listNpmTags = operation({
  method: 'GET',
  path: tags,
  summary: 'List the distribution tags of an npm package',
  ...common,
  params: t.Object({ package_name }),
  gates: [npmProject, readsPackages],
  handle: async ({ db, project, params }) => {
    const name = checkNpmName(params.package_name)
    const versions = await npm.listVersions(db, { project_id: project.id, name })
    if (versions.length === 0) throw noPackage()
    return presentTags(versions)
  },
  returns: NpmTags,
  refuses: [noPackage],
})

const noVersion = () => notGiven('Version')
const MAX_VERSION = 1024

export const setNpmTag = operation({
  method: 'PUT',
  path: `${tags}/:tag`,
  summary: 'Set a distribution tag of an npm package',
  ...common,
  params: t.Object({ package_name, tag: t.String({ maxLength: 255 }) }),
  gates: [withToken, npmProject, developer],
  receives: async (_ctx, upload) => {
    let text = ''
    for await (const chunk of upload.bytes())
      if (text.length < MAX_VERSION) text += Buffer.from(chunk).toString()
    return text
  },
  handle: async ({ db, project, params: { package_name, tag }, received }) => {
    const version = jsonText(received)
    if (version === '') throw noVersion()
    const name = checkNpmName(package_name)
    if (!(await npm.setTag(db, { project_id: project.id, name, version, tag }))) throw noPackage()
  },
  returns: nothing,
  refuses: [noVersion, noPackage],
})

/** The version in a body, which is the JSON of a string. */
function jsonText(body: string): string {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'string' ? value.trim() : ''
  } catch {
    return ''
  }
}

export const deleteNpmTag = operation({
  method: 'DELETE',
  path: `${tags}/:tag`,
  summary: 'Delete a distribution tag of an npm package',
  ...common,
  params: t.Object({ package_name, tag: t.String() }),
  gates: [withToken, npmProject, deletesPackages],
  handle: async ({ db, project, params: { package_name, tag } }) => {
    const name = checkNpmName(package_name)
    if (!(await npm.removeTag(db, { project_id: project.id, name, tag }))) throw noTag()
  },
  returns: nothing,
  refuses: [noTag],
})

const ENCODINGS = new Set([undefined, 'identity', 'gzip'])
const advisories = {
  method: 'POST',
  ...common,
  gates: [withToken, npmProject, readsPackages],
  // There are no advisories here, so what is asked is not read. npm compresses it.
  receives: async () => {},
  handle: async ({ header }: { readonly header: (name: string) => string | undefined }): Promise<never[]> => {
    if (!ENCODINGS.has(header('content-encoding'))) throw unsupportedEncoding()
    return []
  },
  returns: t.Array(t.Unknown()),
  status: 200,
  refuses: [forbidden],
} as const

export const checkNpmAdvisories = operation({
  ...advisories,
  path: '/projects/:id/packages/npm/-/npm/v1/security/advisories/bulk',
  summary: 'Answer an audit of npm packages: no advisories',
})

export const checkNpmAudit = operation({
  ...advisories,
  path: '/projects/:id/packages/npm/-/npm/v1/security/audits/quick',
  summary: 'Answer a quick audit of npm packages: no advisories',
})
