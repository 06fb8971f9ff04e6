import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  readBucket,
  readDatabaseUrl,
  readDomain,
  readFolder,
  readMailFrom,
  readPort,
  readProxies,
  readRootToken,
  readRunnerTimeout,
  readSmtpUrl,
  readUrl,
  wrong,
  type Bucket,
} from './config_values.ts'
import { PACKAGE_ROOT } from './package_root.ts'

/** The settings that come from outside, checked once at start. Nothing else reads the environment. */
export interface Config {
  readonly host: string
  readonly port: number
  /** The external address of this server, without a trailing slash. */
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
  /** Undefined: blobs lie in the data directory. It holds a secret key. */
  readonly bucket: Bucket | undefined
  /** Undefined: no mail is sent. It may hold a password. */
  readonly smtpUrl: string | undefined
  /** The sender of mail. */
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
  BLOB_URL: 'a bucket for files, such as s3://guildhall/blobs; without it, they lie in the data directory',
  AWS_ENDPOINT_URL_S3: 'the S3 server of BLOB_URL, or AWS_ENDPOINT_URL; that of Amazon for AWS_REGION',
  AWS_REGION: 'the region of BLOB_URL, or AWS_DEFAULT_REGION; us-east-1',
  AWS_ACCESS_KEY_ID: 'who asks for the bucket of BLOB_URL',
  AWS_SECRET_ACCESS_KEY: 'its secret',
  AWS_SESSION_TOKEN: 'the token of temporary credentials, where they have one',
  SMTP_URL:
    'the server that sends mail, such as smtp://user:password@mail.example.com:587; without it, none is sent',
  GUILDHALL_MAIL_FROM: 'whom mail is from; noreply@ and the host in GUILDHALL_URL',
  GUILDHALL_RUNNER_TIMEOUT: 'the seconds after which a silent runner has lost its job; 300',
  LOG_LEVEL: `${LOG_LEVELS.join(', ')}; info for serve and worker, warn for other commands`,
}

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
    bucket: readBucket(value),
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
