import { statSync } from 'node:fs'
import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'

class ConfigError extends Error {}

/** A bucket of an S3 server, and the credentials for it. */
export interface Bucket {
  readonly endpoint: string
  readonly name: string
  /** Begins every key: empty, or with a slash at its end. */
  readonly prefix: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
}

// The value of these may be a secret, so the error does not repeat it.
export const wrong = (name: string, given: string | undefined, takes: string): ConfigError =>
  new ConfigError(`${name}${given === undefined ? '' : ` is "${given}"`}: it takes ${takes}`)

export function readPort(given: string | undefined): number {
  if (given === undefined) return 8080
  const port = Number(given)
  if (!/^\d{1,5}$/.test(given) || port > 65_535)
    throw wrong('GUILDHALL_PORT', given, 'a number from 0 to 65535')
  return port
}

export function readRunnerTimeout(given = '300'): number {
  const seconds = Number(given)
  if (!/^\d{1,5}$/.test(given) || seconds < 10)
    throw wrong('GUILDHALL_RUNNER_TIMEOUT', given, 'a number of seconds from 10 to 99999')
  return seconds
}

export function readUrl(given: string | undefined, host: string, port: number): string {
  if (given === undefined) {
    const name = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host) ? 'localhost' : host
    return `http://${name}${port === 80 ? '' : `:${port}`}`
  }
  const url = URL.canParse(given) ? new URL(given) : undefined
  const holdsUser = url !== undefined && (url.username !== '' || url.password !== '')
  if (
    url === undefined ||
    holdsUser ||
    !/^https?:$/.test(url.protocol) ||
    url.search !== '' ||
    url.hash !== ''
  )
    throw wrong(
      'GUILDHALL_URL',
      given.includes('@') ? undefined : given,
      'an http or https address such as https://git.example.com',
    )
  return given.replace(/\/+$/, '')
}

export function readDomain(given: string | undefined): string | undefined {
  if (given !== undefined && !/^[a-z\d]([-.a-z\d]*[a-z\d])?$/i.test(given))
    throw wrong('GUILDHALL_PAGES_DOMAIN', given, 'a host name such as pages.example.com')
  return given
}

export function readProxies(given: string | undefined): string[] {
  const ranges = (given ?? '').split(',').flatMap((part) => part.trim() || [])
  for (const range of ranges) {
    const [address = '', bits = '0', ...rest] = range.split('/')
    const most = isIP(address) === 4 ? 32 : 128
    if (isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > most)
      throw wrong('GUILDHALL_TRUSTED_PROXIES', given, 'addresses and ranges such as 10.0.0.1, 10.1.0.0/16')
  }
  return ranges
}

export function readDatabaseUrl(given: string | undefined): string | undefined {
  if (given !== undefined && !isDatabaseUrl(given))
    throw wrong('DATABASE_URL', undefined, 'an address such as postgres://user:password@host:5432/guildhall')
  return given
}

/** A socket stands in the query, with no host: no URL without one may name a user. */
function isDatabaseUrl(given: string): boolean {
  const address = given.replace(/@\//, '@localhost/')
  if (!/^postgres(ql)?:\/\//.test(given) || !URL.canParse(address)) return false
  const { username, password, pathname } = new URL(address)
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}

export function readSmtpUrl(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    throw wrong('SMTP_URL', undefined, 'an address such as smtp://user:password@mail.example.com:587')
  return given
}

export function readMailFrom(given: string | undefined, hostname: string): string {
  if (given === undefined) return `noreply@${hostname}`
  if (!/^[^\s@<>"]+@[^\s@<>"]+$/.test(given))
    throw wrong('GUILDHALL_MAIL_FROM', given, 'a mail address such as guildhall@example.com')
  return given
}

export function readFolder(name: string, given: string | undefined): string | undefined {
  if (given !== undefined && !isAbsolute(given)) throw wrong(name, given, 'an absolute path')
  if (given !== undefined && !statSync(given, { throwIfNoEntry: false })?.isDirectory())
    throw wrong(name, given, 'the path of a folder that is there')
  return given
}

export function readRootToken(given: string | undefined): string | undefined {
  if (given !== undefined && !/^[\x21-\x7e]{20,255}$/.test(given))
    throw wrong('GUILDHALL_ROOT_TOKEN', undefined, '20 to 255 visible ASCII characters without blanks')
  return given
}

/** Reads BLOB_URL, and the variables that every client of S3 reads. */
export function readBucket(value: (name: string) => string | undefined): Bucket | undefined {
  const given = value('BLOB_URL')
  if (given === undefined) return undefined
  const [, name, folder = ''] =
    /^s3:\/\/([a-z\d][-.a-z\d]{1,61}[a-z\d])(?:\/((?:[-\w]+\/?)*))?$/.exec(given) ?? []
  const shown = given.includes('@') ? undefined : given
  if (name === undefined) throw wrong('BLOB_URL', shown, 's3:// and a bucket, such as s3://guildhall/blobs')
  const region = value('AWS_REGION') ?? value('AWS_DEFAULT_REGION') ?? 'us-east-1'
  const endpoint =
    value('AWS_ENDPOINT_URL_S3') ?? value('AWS_ENDPOINT_URL') ?? `https://s3.${region}.amazonaws.com`
  if (!/^https?:\/\/[^@?#\s]+$/.test(endpoint) || !URL.canParse(endpoint))
    throw wrong('AWS_ENDPOINT_URL_S3', undefined, 'an address such as https://s3.example.com')
  const needed = (variable: string): string => {
    const found = value(variable)
    if (found === undefined) throw wrong(variable, undefined, 'a value where BLOB_URL is set')
    return found
  }
  return {
    endpoint: endpoint.replace(/\/+$/, ''),
    name,
    prefix: folder === '' ? '' : `${folder.replace(/\/$/, '')}/`,
    region,
    accessKeyId: needed('AWS_ACCESS_KEY_ID'),
    secretAccessKey: needed('AWS_SECRET_ACCESS_KEY'),
    sessionToken: value('AWS_SESSION_TOKEN'),
  }
}
