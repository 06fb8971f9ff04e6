import { statSync } from 'node:fs'
import { isIP } from 'node:net'
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PACKAGE_ROOT } from './package_root.ts'

/** The settings that come from outside, checked once at start. Nothing else reads the environment. */
export interface Config {
  readonly host: string
  readonly port: number
  /** What the outside calls this server, without a slash at the end. */
  readonly url: string
  /** Whether `url` was given, and not made of host and port. */
  readonly urlGiven: boolean
  /** The host name in `url`. */
  readonly hostname: string
  /** The domain that static pages are served under: what badges call it. */
  readonly pagesDomain: string
  /** Proxies whose word on the caller's address is believed. */
  readonly trustedProxies: readonly string[]
  readonly dataDir: string
  /** Undefined: run the PostgreSQL inside. */
  readonly databaseUrl: string | undefined
  readonly pgBinDir: string | undefined
  readonly rootToken: string | undefined
  readonly secretFile: string
  /** Undefined: no mail is sent. It may hold a password. */
  readonly smtpUrl: string | undefined
  /** Whom mail is from. */
  readonly mailFrom: string
  /** The licence tier and the offering until `setting set` changes them; read them from the settings. */
  readonly tier: Tier
  readonly offering: Offering
  /** Which operations are served: all, or only those whose path the specification shows. */
  readonly contract: 'all' | 'specified'
  /** Undefined: what each command finds fit. */
  readonly logLevel: LogLevel | undefined
  /** Seconds after which a silent runner has lost its job. */
  readonly runnerTimeout: number
  /** Where programs such as git are looked for. */
  readonly path: string
}

/** The default first. */
export const TIERS = ['ultimate', 'premium', 'free'] as const
export type Tier = (typeof TIERS)[number]
export const OFFERINGS = ['self-managed', 'hosted'] as const
export type Offering = (typeof OFFERINGS)[number]

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Every variable that is read, for people. */
export const VARIABLES: Readonly<Record<string, string>> = {
  GUILDHALL_DATA_DIR: 'where everything is kept; without it, the folder data beside the program',
  GUILDHALL_HOST: 'the address to listen on; 127.0.0.1, this machine only',
  GUILDHALL_PORT: 'the port to listen on; 8080',
  GUILDHALL_URL: 'what the outside calls the server; http://localhost:8080',
  GUILDHALL_PAGES_DOMAIN: 'the domain of static pages, as badges name it; pages. before the host name',
  GUILDHALL_TRUSTED_PROXIES: 'addresses and ranges whose X-Forwarded-For is believed, with commas; none',
  GUILDHALL_ROOT_TOKEN: "the administrator's token, instead of one made at the first start",
  GUILDHALL_SECRET_FILE: 'the key of what is kept encrypted; secret in the data directory',
  GUILDHALL_TIER: 'ultimate, premium or free, until the setting tier is set',
  GUILDHALL_OFFERING: 'self-managed or hosted, until the setting offering is set',
  GUILDHALL_CONTRACT: 'all, or specified for the operations whose path the specification shows',
  DATABASE_URL: 'a PostgreSQL of your own; without it, one runs inside',
  PG_BIN_DIR: 'the folder of other PostgreSQL programs to run inside',
  SMTP_URL:
    'the server that sends mail, such as smtp://user:password@mail.example.com:587; without it, none is sent',
  GUILDHALL_MAIL_FROM: 'whom mail is from; noreply@ and the host in GUILDHALL_URL',
  GUILDHALL_RUNNER_TIMEOUT: 'the seconds after which a silent runner has lost its job; 300',
  LOG_LEVEL: `${LOG_LEVELS.join(', ')}; info for serve and worker, warn for other commands`,
}

class ConfigError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads a Config, or throws a ConfigError that names the variable, what it holds and what it takes. */
export function readConfig(env: Environment = process.env): Config {
  const value = (name: string): string | undefined => (env[name] === '' ? undefined : env[name])
  const one = <const T extends string>(name: string, of: readonly [T, ...T[]]): T => {
    const given = value(name)
    if (given === undefined) return of[0]
    const found = of.find((each) => each === given)
    if (found === undefined) throw wrong(name, given, `one of ${of.join(', ')}`)
    return found
  }
  const host = value('GUILDHALL_HOST') ?? '127.0.0.1'
  const port = readPort(value('GUILDHALL_PORT'))
  const dataDir = resolve(value('GUILDHALL_DATA_DIR') ?? fileURLToPath(new URL('data', PACKAGE_ROOT)))
  const url = readUrl(value('GUILDHALL_URL'), host, port)
  return {
    host,
    port,
    url,
    urlGiven: value('GUILDHALL_URL') !== undefined,
    hostname: new URL(url).hostname,
    pagesDomain: readDomain(value('GUILDHALL_PAGES_DOMAIN')) ?? `pages.${new URL(url).hostname}`,
    trustedProxies: readProxies(value('GUILDHALL_TRUSTED_PROXIES')),
    dataDir,
    databaseUrl: readDatabaseUrl(value('DATABASE_URL')),
    pgBinDir: readFolder('PG_BIN_DIR', value('PG_BIN_DIR')),
    rootToken: readRootToken(value('GUILDHALL_ROOT_TOKEN')),
    secretFile: resolve(value('GUILDHALL_SECRET_FILE') ?? `${dataDir}/secret`),
    smtpUrl: readSmtpUrl(value('SMTP_URL')),
    mailFrom: readMailFrom(value('GUILDHALL_MAIL_FROM'), new URL(url).hostname),
    tier: one('GUILDHALL_TIER', TIERS),
    offering: one('GUILDHALL_OFFERING', OFFERINGS),
    contract: one('GUILDHALL_CONTRACT', ['all', 'specified']),
    logLevel: value('LOG_LEVEL') === undefined ? undefined : one('LOG_LEVEL', LOG_LEVELS),
    runnerTimeout: readRunnerTimeout(value('GUILDHALL_RUNNER_TIMEOUT')),
    path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
  }
}

/** The same with a port that was found free, where port 0 left the choice. */
export const atPort = (config: Config, port: number): Config => ({
  ...config,
  port,
  url: config.url.replace(/:0$/, `:${port}`),
})

/** The same for commands beside a server that is known to be reached at `url`. */
export const atUrl = (config: Config, url: string): Config => ({
  ...config,
  url,
  hostname: new URL(url).hostname,
})

// The value of these may be a secret, so the error does not repeat it.
const wrong = (name: string, given: string | undefined, takes: string): ConfigError =>
  new ConfigError(`${name}${given === undefined ? '' : ` is "${given}"`}: it takes ${takes}`)

function readPort(given: string | undefined): number {
  if (given === undefined) return 8080
  const port = Number(given)
  if (!/^\d{1,5}$/.test(given) || port > 65_535)
    throw wrong('GUILDHALL_PORT', given, 'a number from 0 to 65535')
  return port
}

function readRunnerTimeout(given = '300'): number {
  const seconds = Number(given)
  if (!/^\d{1,5}$/.test(given) || seconds < 10)
    throw wrong('GUILDHALL_RUNNER_TIMEOUT', given, 'a number of seconds from 10 to 99999')
  return seconds
}

function readUrl(given: string | undefined, host: string, port: number): string {
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

function readDomain(given: string | undefined): string | undefined {
  if (given !== undefined && !/^[a-z\d]([-.a-z\d]*[a-z\d])?$/i.test(given))
    throw wrong('GUILDHALL_PAGES_DOMAIN', given, 'a host name such as pages.example.com')
  return given
}

function readProxies(given: string | undefined): string[] {
  const ranges = (given ?? '').split(',').flatMap((part) => part.trim() || [])
  for (const range of ranges) {
    const [address = '', bits = '0', ...rest] = range.split('/')
    const most = isIP(address) === 4 ? 32 : 128
    if (isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > most)
      throw wrong('GUILDHALL_TRUSTED_PROXIES', given, 'addresses and ranges such as 10.0.0.1, 10.1.0.0/16')
  }
  return ranges
}

function readDatabaseUrl(given: string | undefined): string | undefined {
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

function readSmtpUrl(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    throw wrong('SMTP_URL', undefined, 'an address such as smtp://user:password@mail.example.com:587')
  return given
}

function readMailFrom(given: string | undefined, hostname: string): string {
  if (given === undefined) return `noreply@${hostname}`
  if (!/^[^\s@<>"]+@[^\s@<>"]+$/.test(given))
    throw wrong('GUILDHALL_MAIL_FROM', given, 'a mail address such as guildhall@example.com')
  return given
}

function readFolder(name: string, given: string | undefined): string | undefined {
  if (given !== undefined && !isAbsolute(given)) throw wrong(name, given, 'an absolute path')
  if (given !== undefined && !statSync(given, { throwIfNoEntry: false })?.isDirectory())
    throw wrong(name, given, 'the path of a folder that is there')
  return given
}

function readRootToken(given: string | undefined): string | undefined {
  if (given !== undefined && !/^[\x21-\x7e]{20,255}$/.test(given))
    throw wrong('GUILDHALL_ROOT_TOKEN', undefined, '20 to 255 visible ASCII characters without blanks')
  return given
}
