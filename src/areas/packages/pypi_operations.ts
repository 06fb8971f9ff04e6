import { Type as t } from 'typebox'
import { developer, insideGroup } from '../../access/gates/gates.ts'
import {
  CHALLENGE,
  readsPackages,
  registryGroup,
  registryProject,
  withToken,
} from '../../access/gates/package_gates.ts'
import { bytes, type Download } from '../../http/answers/download.ts'
import type { Context } from '../../http/gate.ts'
import { Answer, operation } from '../../http/operation.ts'
import { notFound } from '../../http/problems.ts'
import { canonicalName } from '../../packages/names.ts'
import { readerOf } from './group_scope.ts'
import { presentFiles, presentIndex } from './pypi_index.ts'
import { badPypi, fileTaken, publishPypi, receivePypi } from './pypi_publishing.ts'
import * as pypi from './pypi_store.ts'
import { fileTooLarge, packageProtected, storageNotice } from './refusals.ts'
import { serveFile } from './serving.ts'

const common = { published: true, challenge: CHALLENGE } as const
const noPackage = () => notFound('Package')
const package_name = t.String({ description: 'In any spelling' })
const fileOf = t.Object({ sha256: t.String(), file_name: t.String() })

export const createPypiPackageFile = operation({
  method: 'POST',
  path: '/projects/:id/packages/pypi',
  summary: 'Publish a file of a PyPI package',
  ...common,
  jobTokens: true,
  deployTokens: true,
  gates: [withToken, registryProject, developer],
  receives: receivePypi,
  handle: async (ctx) => {
    const added = await publishPypi(ctx, ctx.received)
    return new Answer(201, { message: '201 Created' }, storageNotice(added))
  },
  returns: t.Object({ message: t.String() }),
  refuses: [fileTooLarge, packageProtected, fileTaken, badPypi('Version is invalid')],
})

/** A registry with its address. */
interface Place {
  readonly registry: pypi.Registry
  readonly address: string
}
const atProject = ({ config, project }: Context & { readonly project: { readonly id: number } }): Place => ({
  registry: { project_id: project.id },
  address: `${config.url}/api/v4/projects/${project.id}/packages/pypi`,
})
const atGroup = (
  ctx: Context & { readonly group: { readonly id: number; readonly role: number } },
): Place => ({
  registry: { group_id: ctx.group.id, ...readerOf(ctx) },
  address: `${ctx.config.url}/api/v4/groups/${ctx.group.id}/-/packages/pypi`,
})

async function sendIndex({ db, header }: Context, title: string, place: Place): Promise<Download> {
  const names = await pypi.listNames(db, place.registry)
  return presentIndex(title, names, { accept: header('accept'), address: place.address })
}

async function sendFiles({ db, header }: Context, name: string, place: Place): Promise<Download> {
  const files = await pypi.listFiles(db, place.registry, canonicalName('pypi', name))
  if (files.length === 0) throw noPackage()
  return presentFiles(files, { accept: header('accept'), address: place.address })
}

async function sendFile(
  ctx: Context & { readonly params: { readonly sha256: string; readonly file_name: string } },
  { registry }: Place,
): Promise<Download> {
  const { sha256, file_name } = ctx.params
  const file = await pypi.findFile(ctx.db, registry, { sha256: sha256.toLowerCase(), file_name })
  if (file === undefined) throw noPackage()
  return serveFile(ctx, file)
}

export const listPypiPackages = operation({
  method: 'GET',
  path: '/projects/:id/packages/pypi/simple',
  summary: 'List the PyPI packages of a project in the form of the simple index',
  ...common,
  jobTokens: true,
  deployTokens: true,
  gates: [registryProject, readsPackages],
  handle: (ctx) => sendIndex(ctx, ctx.project.name, atProject(ctx)),
  returns: bytes(),
})

export const getPypiPackage = operation({
  method: 'GET',
  path: '/projects/:id/packages/pypi/simple/:package_name',
  summary: 'List the files of a PyPI package in the form of the simple index',
  ...common,
  jobTokens: true,
  deployTokens: true,
  params: t.Object({ package_name }),
  gates: [registryProject, readsPackages],
  handle: (ctx) => sendFiles(ctx, ctx.params.package_name, atProject(ctx)),
  returns: bytes(),
  refuses: [noPackage],
})

export const getPypiPackageFile = operation({
  method: 'GET',
  path: '/projects/:id/packages/pypi/files/:sha256/:file_name',
  summary: 'Download a file of a PyPI package',
  ...common,
  jobTokens: true,
  deployTokens: true,
  params: fileOf,
  gates: [registryProject, readsPackages],
  handle: (ctx) => sendFile(ctx, atProject(ctx)),
  returns: bytes(),
  refuses: [noPackage],
})

export const listGroupPypiPackages = operation({
  method: 'GET',
  path: '/groups/:id/-/packages/pypi/simple',
  summary: 'List the PyPI packages of the projects of a group in the form of the simple index',
  ...common,
  deployTokens: true,
  gates: [registryGroup, insideGroup],
  handle: (ctx) => sendIndex(ctx, ctx.group.name, atGroup(ctx)),
  returns: bytes(),
})

export const getGroupPypiPackage = operation({
  method: 'GET',
  path: '/groups/:id/-/packages/pypi/simple/:package_name',
  summary: 'List the files of a PyPI package of the projects of a group',
  ...common,
  deployTokens: true,
  params: t.Object({ package_name }),
  gates: [registryGroup, insideGroup],
  handle: (ctx) => sendFiles(ctx, ctx.params.package_name, atGroup(ctx)),
  returns: bytes(),
  refuses: [noPackage],
})

export const getGroupPypiPackageFile = operation({
  method: 'GET',
  path: '/groups/:id/-/packages/pypi/files/:sha256/:file_name',
  summary: 'Download a file of a PyPI package of the projects of a group',
  ...common,
  deployTokens: true,
  params: fileOf,
  gates: [registryGroup, insideGroup],
  handle: (ctx) => sendFile(ctx, atGroup(ctx)),
  returns: bytes(),
  refuses: [noPackage],
})
