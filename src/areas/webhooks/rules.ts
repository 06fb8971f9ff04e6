import { ForbiddenAddress, UnknownHost, outboundAddress } from '../../core/settings/outbound.ts'
import { isBranchFilter } from '../../hooks/branch_filter.ts'
import { effectiveUrl } from '../../hooks/request.ts'
import type { Secrets, WebHook } from '../../hooks/rows.ts'
import { badValue, unprocessable, type Problem } from '../../http/problems.ts'
import type { Instance } from '../../instance.ts'

/** Custom headers of one webhook. */
const MAX_HEADERS = 20
const HEADER = /^[A-Za-z](?:[A-Za-z0-9]|[._-](?![._-]))*$/
const VARIABLE = /^[A-Za-z](?:[A-Za-z0-9]|[._-](?![._-]))*$/
const ENDS_WELL = /[A-Za-z0-9]$/

export const isHeaderName = (name: string): boolean => HEADER.test(name) && ENDS_WELL.test(name)
export const isVariableName = (name: string): boolean => VARIABLE.test(name) && ENDS_WELL.test(name)

export const badAddress = (): Problem => badValue('Invalid url given')
export const badFilter = (): Problem => badValue('Invalid branch filter given')
export const badHeaders = (): Problem => badValue('Custom headers validation failed')
export const unfit = (field: string): Problem => unprocessable({ [field]: ['is invalid'] } as never)

/** Refuses an address that is no web address, or that the instance does not connect to. Asks the name server. */
async function checkAddress(settings: Instance['settings'], url: string, secrets: Secrets): Promise<void> {
  let address: URL
  try {
    address = effectiveUrl(url, secrets)
  } catch {
    throw badAddress()
  }
  if (!/^https?:$/.test(address.protocol) || address.hostname === '') throw badAddress()
  await outboundAddress(settings, address).catch((error: unknown) => {
    // A name may be known later; the address is checked again when it is connected to.
    if (error instanceof ForbiddenAddress && !(error instanceof UnknownHost)) throw badAddress()
  })
}

type Values = Pick<
  WebHook,
  'url' | 'push_events_branch_filter' | 'branch_filter_strategy' | 'custom_webhook_template'
>

/** Refuses a webhook that could not be kept, in the published words. */
export async function checkHook(
  { settings }: Pick<Instance, 'settings'>,
  values: Values,
  secrets: Secrets,
): Promise<void> {
  const placeholders = [...values.url.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
  const variables = Object.keys(secrets.url_variables)
  if (!variables.every(isVariableName)) throw unfit('url_variables')
  if (!placeholders.every((name) => variables.includes(name))) throw unfit('url')
  await checkAddress(settings, values.url, secrets)
  const { push_events_branch_filter: filter, branch_filter_strategy } = values
  if (filter !== null && !isBranchFilter(filter, branch_filter_strategy)) throw badFilter()
  const headers = Object.entries(secrets.custom_headers)
  const isSendable = headers.every(([name, value]) => isHeaderName(name) && /^[\t\x20-\x7e]*$/.test(value))
  if (headers.length > MAX_HEADERS || !isSendable) throw badHeaders()
  if (secrets.token !== undefined && !/^[\t\x20-\x7e]*$/.test(secrets.token)) throw unfit('token')
  if (secrets.signing_token !== undefined && !isSigningToken(secrets.signing_token))
    throw unfit('signing_token')
}

const isSigningToken = (token: string): boolean =>
  token.startsWith('whsec_') && Buffer.from(token.slice('whsec_'.length), 'base64').length === 32
