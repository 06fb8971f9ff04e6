import { Type as t } from 'typebox'
import { loads } from '../../http/gate.ts'
import { nothing } from '../../http/operation.ts'
import { changeSecrets, type OnHook } from './actions.ts'
import { isHeaderName, isVariableName, unfit } from './rules.ts'

// URL variables and custom headers of a webhook, one by one.

const LISTS = {
  url_variables: { isName: isVariableName },
  custom_headers: { isName: isHeaderName },
} as const
type List = keyof typeof LISTS

/** The key of a value that the webhook has. */
const known = (list: List) =>
  loads({
    param: 'key',
    type: t.String(),
    as: 'known',
    says: 'a key of the webhook',
    find: ({ hook }: OnHook, key): { key: string } | undefined =>
      hook[list].includes(key) ? { key } : undefined,
  })

const setting = (list: List) =>
  ({
    moves: 'rows',
    params: t.Object({ key: t.String(), value: t.String() }),
    handle: async (ctx: OnHook & { readonly params: { readonly key: string; readonly value: string } }) => {
      const { key, value } = ctx.params
      if (!LISTS[list].isName(key)) throw unfit('key')
      if (value === '' || /[\r\n\0]/.test(value)) throw unfit('value')
      return changeSecrets(ctx, (secrets) => ({ ...secrets, [list]: { ...secrets[list], [key]: value } }))
    },
    returns: nothing,
    refuses: [unfit('key')],
  }) as const

const removing = (list: List) =>
  ({
    moves: 'rows',
    handle: async (ctx: OnHook & { readonly known: { readonly key: string } }) =>
      changeSecrets(ctx, (secrets) => {
        const { [ctx.known.key]: _gone, ...left } = secrets[list]
        return { ...secrets, [list]: left }
      }),
    returns: nothing,
  }) as const

export const urlVariable = {
  known: known('url_variables'),
  set: setting('url_variables'),
  remove: removing('url_variables'),
}
export const customHeader = {
  known: known('custom_headers'),
  set: setting('custom_headers'),
  remove: removing('custom_headers'),
}
