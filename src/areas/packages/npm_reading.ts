import { Type as t } from 'typebox'
import { anyone, insideGroup } from '../../access/gates/gates.ts'
import { CHALLENGE, registryGroup } from '../../access/gates/package_gates.ts'
import type { Context } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { npmScope } from '../../packages/names.ts'
import type { NpmVersion } from '../../packages/npm_store.ts'
import { readerOf } from './group_scope.ts'
import * as groups from './npm_group_store.ts'
import { NpmMetadata, NpmTags, presentMetadata, presentTags } from './npm_metadata.ts'
import { checkNpmName } from './npm_publishing.ts'
import { noPackage, noPackages, npmNotFound } from './npm_refusals.ts'

// Hidden packages are absent here, whatever the reason: the two levels reveal nothing of them.

const package_name = t.String({ description: 'With its scope, whose slash may be encoded' })
const common = { published: true, challenge: CHALLENGE } as const
const npmGroup = { ...registryGroup, refuses: () => npmNotFound('Group') } as typeof registryGroup

type OfGroup = Context & {
  readonly group: { readonly id: number; readonly role: number }
  readonly params: { package_name: string }
}
const inGroup = (ctx: OfGroup): Promise<NpmVersion[]> =>
  groups.listOfGroup(ctx.db, {
    ...readerOf(ctx),
    group_id: ctx.group.id,
    name: checkNpmName(ctx.params.package_name),
  })

type OfInstance = Context & { readonly params: { package_name: string } }
async function inInstance(ctx: OfInstance): Promise<NpmVersion[]> {
  const name = checkNpmName(ctx.params.package_name)
  const scope = npmScope(name)
  return scope === undefined ? [] : groups.listOfScope(ctx.db, { ...readerOf(ctx), scope, name })
}

export const getGroupNpmPackage = operation({
  method: 'GET',
  path: '/groups/:id/-/packages/npm/:package_name',
  summary: 'Get the metadata of an npm package of the projects of a group',
  ...common,
  deployTokens: true,
  params: t.Object({ package_name }),
  gates: [npmGroup, insideGroup],
  handle: async (ctx) => {
    const versions = await inGroup(ctx)
    if (versions.length === 0) throw noPackages()
    return presentMetadata(ctx.params.package_name, versions, ctx.config.url)
  },
  returns: NpmMetadata,
  refuses: [noPackages],
})

export const listGroupNpmTags = operation({
  method: 'GET',
  path: '/groups/:id/-/packages/npm/-/package/:package_name/dist-tags',
  summary: 'List the tags of an npm package of the projects of a group',
  ...common,
  deployTokens: true,
  params: t.Object({ package_name }),
  gates: [npmGroup, insideGroup],
  handle: async (ctx) => {
    const versions = await inGroup(ctx)
    if (versions.length === 0) throw noPackage()
    return presentTags(versions)
  },
  returns: NpmTags,
  refuses: [noPackage],
})

export const getInstanceNpmPackage = operation({
  method: 'GET',
  path: '/packages/npm/:package_name',
  summary: 'Get the metadata of an npm package whose scope is the path of its root namespace',
  ...common,
  params: t.Object({ package_name }),
  gates: [anyone],
  handle: async (ctx) => {
    const versions = await inInstance(ctx)
    if (versions.length === 0) throw noPackages()
    return presentMetadata(ctx.params.package_name, versions, ctx.config.url)
  },
  returns: NpmMetadata,
  refuses: [noPackages],
})

export const listInstanceNpmTags = operation({
  method: 'GET',
  path: '/packages/npm/-/package/:package_name/dist-tags',
  summary: 'List the tags of an npm package whose scope is the path of its root namespace',
  ...common,
  params: t.Object({ package_name }),
  gates: [anyone],
  handle: async (ctx) => {
    const versions = await inInstance(ctx)
    if (versions.length === 0) throw noPackage()
    return presentTags(versions)
  },
  returns: NpmTags,
  refuses: [noPackage],
})
