import type { IncomingHttpHeaders } from 'node:http'
import type { Tree } from '../http/params/forms.ts'
import { unauthorized } from '../http/problems.ts'

/**
 * The token a request presents, or undefined when it presents none. A parameter is read before a header, as
 * published. A token of a wrong form is still a token, and so a refusal.
 */
export function tokenOf(headers: IncomingHttpHeaders, sent: Tree): string | undefined {
  const own = sent['private_token'] ?? headers['private-token']
  // Operations that take a job's or a deploy token read it before; no other kind is taken for one.
  const other = headers['job-token'] ?? sent['job_token'] ?? headers['deploy-token'] ?? undefined
  if (own === undefined && other !== undefined) throw unauthorized()
  const given = own ?? bearer(headers.authorization) ?? sent['access_token'] ?? undefined
  if (given === undefined) return undefined
  if (typeof given !== 'string' || given === '') throw unauthorized()
  return given
}

/** Under this name the password of HTTP Basic is the token of a running job. */
const JOB_USER = 'gitlab-ci-token'
/** Begins the tokens of jobs. */
export const JOB_TOKEN_PREFIX = 'glcbt-'

/**
 * The token of a job that a request presents, by header, parameter, as a bearer or, where `basic`, as a password; '' for a
 * wrong form.
 */
export function jobTokenOf(headers: IncomingHttpHeaders, sent: Tree, basic: boolean): string | undefined {
  if ((sent['private_token'] ?? headers['private-token']) !== undefined) return undefined
  const given = headers['job-token'] ?? sent['job_token'] ?? undefined
  if (given !== undefined) return typeof given === 'string' ? given : ''
  const bearing = bearer(headers.authorization)
  if (bearing?.startsWith(JOB_TOKEN_PREFIX)) return bearing
  const credentials = basic ? credentialsOf(headers) : undefined
  return credentials?.name === JOB_USER ? credentials.password : undefined
}

/** Begins deploy tokens. */
export const DEPLOY_TOKEN_PREFIX = 'gldt-'

export interface PresentedDeployToken {
  readonly token: string
  /** The name that came with it; undefined where the token stands alone. */
  readonly username: string | undefined
}

/** The deploy token that a request presents, by header, as a bearer or as a password; undefined without one. */
export function deployTokenOf(headers: IncomingHttpHeaders): PresentedDeployToken | undefined {
  if (headers['private-token'] !== undefined) return undefined
  const given = headers['deploy-token']
  if (given !== undefined) return { token: [given].flat()[0] ?? '', username: undefined }
  const bearing = bearer(headers.authorization)
  if (bearing?.startsWith(DEPLOY_TOKEN_PREFIX)) return { token: bearing, username: undefined }
  const { name, password = '' } = credentialsOf(headers) ?? {}
  return password.startsWith(DEPLOY_TOKEN_PREFIX) ? { token: password, username: name } : undefined
}

/** `Bearer` without a token is a token of a wrong form; another scheme is none of ours. */
function bearer(authorization = ''): string | undefined {
  const found = /^bearer(?:\s+(.*))?$/i.exec(authorization)
  return found === null ? undefined : (found[1] ?? '')
}

/** The password of HTTP Basic, whatever the user name; '' stands for credentials that no token can be read from. */
export function passwordOf(headers: IncomingHttpHeaders): string | undefined {
  const credentials = credentialsOf(headers)
  // The token of a job comes under this name, and opens what takes one only.
  return credentials?.name === JOB_USER ? '' : credentials?.password
}

function credentialsOf({
  authorization = '',
}: IncomingHttpHeaders): { readonly name: string; readonly password: string } | undefined {
  const sent = /^basic\s+(.*)$/i.exec(authorization)?.[1]
  if (sent === undefined) return undefined
  const [name = '', ...password] = Buffer.from(sent, 'base64').toString().split(':')
  return { name, password: password.join(':') }
}
