import { Type as t, type Static } from 'typebox'
import { NO_SECRETS, openSecrets, sealSecrets, type Secrets, type WebHook } from '../../hooks/rows.ts'
import type { Actor, Context, Has } from '../../http/gate.ts'
import { loads } from '../../http/gate.ts'
import type { PageRequest } from '../../http/operation.ts'
import { badParams } from '../../http/problems.ts'
import { presentPage } from '../../http/answers/pages.ts'
import { FLAGS, presentHook, type HookKind, type HookParams } from './entity.ts'
import { badAddress, badFilter, badHeaders, checkHook, unfit } from './rules.ts'
import * as hooks from './store.ts'
import type { Owner } from './store.ts'

// Operations of webhooks are alike, whatever the webhooks belong to.

export type Here = Has<{ actor: Actor; owner: Owner }>
type With<Params> = Here & { readonly params: Params }
type Given = HookParams & { readonly url?: string | undefined }

export const hook = loads({
  param: 'hook_id',
  type: t.Integer(),
  as: 'hook',
  says: 'a webhook of that place',
  find: ({ db, owner }: Has<{ owner: Owner }>, id) => hooks.find(db, owner, id),
})
export type OnHook = Here & { readonly hook: WebHook }

export const refusals = [badAddress, badFilter, badHeaders, unfit('token')] as const

/** Flags that the parameters set, on top of those that were set. */
function subscriptionsAfter(kind: HookKind, before: readonly string[], given: Given): string[] {
  const flags: Record<string, unknown> = given
  return FLAGS[kind].served.filter((name) => {
    const value = flags[name]
    return value === undefined ? before.includes(name) : value === true
  })
}

type Pairs = readonly { readonly key: string; readonly value: string }[]
const merged = (
  before: Readonly<Record<string, string>>,
  given: Pairs | undefined,
): Record<string, string> => ({
  ...before,
  ...Object.fromEntries((given ?? []).map(({ key, value }) => [key, value])),
})

/** Secrets are of one address: another address gets those that are sent with it, and no older ones. */
function secretsAfter(before: Secrets, given: Given, isMoved: boolean): Secrets {
  const { token, signing_token } = given
  const [oldVariables, oldHeaders] = isMoved ? [{}, {}] : [before.url_variables, before.custom_headers]
  const oldToken = isMoved ? undefined : before.token
  return {
    token: (token === undefined ? oldToken : token) || undefined,
    signing_token: (signing_token === undefined ? before.signing_token : signing_token) || undefined,
    url_variables: merged(oldVariables, given.url_variables),
    custom_headers: merged(oldHeaders, given.custom_headers),
  }
}

const secretColumns = (
  ctx: Pick<Context, 'vault'>,
  secrets: Secrets,
): Pick<WebHook, 'secrets' | 'has_token' | 'has_signing_token' | 'url_variables' | 'custom_headers'> => ({
  secrets: sealSecrets(ctx, secrets),
  has_token: secrets.token !== undefined,
  has_signing_token: secrets.signing_token !== undefined,
  url_variables: Object.keys(secrets.url_variables),
  custom_headers: Object.keys(secrets.custom_headers),
})

type Plain = Pick<
  WebHook,
  | 'url'
  | 'name'
  | 'description'
  | 'enable_ssl_verification'
  | 'push_events_branch_filter'
  | 'branch_filter_strategy'
  | 'custom_webhook_template'
>
function plainAfter(before: Plain, given: Given): Plain {
  const strategy = given.branch_filter_strategy ?? before.branch_filter_strategy
  const kept = <T>(value: T | undefined, old: T): T => (value === undefined ? old : value)
  return {
    url: given.url ?? before.url,
    name: kept(given.name, before.name),
    description: kept(given.description, before.description),
    enable_ssl_verification: given.enable_ssl_verification ?? before.enable_ssl_verification,
    push_events_branch_filter:
      strategy === 'all_branches'
        ? null
        : kept(given.push_events_branch_filter, before.push_events_branch_filter),
    branch_filter_strategy: strategy,
    custom_webhook_template: kept(given.custom_webhook_template, before.custom_webhook_template),
  }
}
const BLANK: Plain = {
  url: '',
  name: null,
  description: null,
  enable_ssl_verification: true,
  push_events_branch_filter: null,
  branch_filter_strategy: 'wildcard',
  custom_webhook_template: null,
}

export const list = async (ctx: Here & { readonly page: PageRequest }) =>
  presentPage(await hooks.list(ctx.db, ctx.owner, { ...ctx.page }), presentHook)

export const show = async ({ hook: row }: OnHook) => presentHook(row)

type Shown = ReturnType<typeof presentHook>

export async function create(ctx: With<Given & { readonly url: string }>): Promise<Shown> {
  const { owner, params } = ctx
  const secrets = secretsAfter(NO_SECRETS, params, false)
  const plain = plainAfter(BLANK, params)
  await checkHook(ctx, plain, secrets)
  const subscriptions = subscriptionsAfter(owner.kind, FLAGS[owner.kind].on, params)
  const values = { ...plain, ...secretColumns(ctx, secrets), subscriptions }
  return presentHook(await ctx.transact(ctx, ({ db }) => hooks.insert(db, owner, values)))
}

export async function change(ctx: OnHook & With<Given>): Promise<Shown> {
  const { owner, params, hook: found } = ctx
  if (Object.keys(params).length === 0) throw badParams(['No parameters provided'])
  // Checked outside of the transaction: the name server is asked.
  const check = async (before: WebHook): Promise<Secrets> => {
    const plain = plainAfter(before, params)
    const secrets = secretsAfter(openSecrets(ctx, before), params, plain.url !== before.url)
    await checkHook(ctx, plain, secrets)
    return secrets
  }
  await check(found)
  const row = await ctx.transact(ctx, async ({ db }) => {
    const before = await hooks.lock(db, found.id)
    const plain = plainAfter(before, params)
    const secrets = secretsAfter(openSecrets(ctx, before), params, plain.url !== before.url)
    const isSame = JSON.stringify(secrets) === JSON.stringify(openSecrets(ctx, before))
    return hooks.update(db, before.id, {
      ...plain,
      ...(!isSame && secretColumns(ctx, secrets)),
      subscriptions: subscriptionsAfter(owner.kind, before.subscriptions, params),
    })
  })
  return presentHook(row)
}

export async function remove(ctx: OnHook): Promise<null> {
  await ctx.transact(ctx, ({ db, hook: row }) => hooks.remove(db, row.id))
  return null
}

/** Changes the sealed values of a webhook. */
export async function changeSecrets(ctx: OnHook, work: (secrets: Secrets) => Secrets): Promise<null> {
  await ctx.transact(ctx, async ({ db }) => {
    const before = await hooks.lock(db, ctx.hook.id)
    const secrets = work(openSecrets(ctx, before))
    await hooks.update(db, before.id, secretColumns(ctx, secrets))
  })
  return null
}

export const urlParam = t.Unsafe<string>({ type: 'string', maxLength: 2048 })
export type ParamsOf<T extends Parameters<typeof t.Object>[0]> = Static<ReturnType<typeof t.Object<T>>>
