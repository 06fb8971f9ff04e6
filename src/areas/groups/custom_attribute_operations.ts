import { Type as t } from 'typebox'
import { administrator, group, signedIn } from '../../access/gates/gates.ts'
import { nothing, operation } from '../../http/operation.ts'
import { noSuchRecord } from '../../http/problems.ts'
import { CustomAttribute } from './entity.ts'
import { removeCustomAttribute, setCustomAttribute } from './write_store.ts'

const first = [signedIn, group, administrator] as const
const key = t.String({ maxLength: 255 })

export const listGroupCustomAttributes = operation({
  method: 'GET',
  path: '/groups/:id/custom_attributes',
  summary: 'List the custom attributes of a group',
  published: true,
  first,
  gates: [],
  handle: async ({ group }) =>
    Object.entries(group.custom_attributes).map(([key, value]) => ({ key, value })),
  returns: t.Array(CustomAttribute),
})

export const getGroupCustomAttribute = operation({
  method: 'GET',
  path: '/groups/:id/custom_attributes/:key',
  summary: 'Get a custom attribute of a group',
  published: true,
  first,
  params: t.Object({ key }),
  gates: [],
  handle: async ({ group, params }) => {
    const value = Object.entries(group.custom_attributes).find(([name]) => name === params.key)?.[1]
    if (value === undefined) throw noSuchRecord()
    return { key: params.key, value }
  },
  returns: CustomAttribute,
  refuses: [noSuchRecord],
})

export const setGroupCustomAttribute = operation({
  method: 'PUT',
  path: '/groups/:id/custom_attributes/:key',
  summary: 'Set a custom attribute of a group',
  published: true,
  first,
  params: t.Object({ key, value: t.String({ maxLength: 10_000 }) }),
  gates: [],
  handle: async ({ db, group, params: { key, value } }) => {
    await setCustomAttribute(db, group.id, { key, value })
    return { key, value }
  },
  returns: CustomAttribute,
})

export const deleteGroupCustomAttribute = operation({
  method: 'DELETE',
  path: '/groups/:id/custom_attributes/:key',
  summary: 'Delete a custom attribute of a group',
  published: true,
  first,
  params: t.Object({ key }),
  gates: [],
  handle: async ({ db, group, params }) => {
    if ((await removeCustomAttribute(db, group.id, params.key)) === 0) throw noSuchRecord()
    return null
  },
  returns: nothing,
  refuses: [noSuchRecord],
})
