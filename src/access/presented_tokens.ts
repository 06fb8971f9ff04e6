import type { IncomingHttpHeaders } from 'node:http'
import type { Tree } from '../http/forms.ts'
import { unauthorized } from '../http/problems.ts'

/**
 * The token a request presents, or undefined when it presents none. A parameter is read before a header, as
 * published. A token of a wrong form is still a token, and so a refusal.
 */
export function tokenOf(headers: IncomingHttpHeaders, sent: Tree): string | undefined {
  const own = sent['private_token'] ?? headers['private-token']
  // No operation takes a job's token yet, and no other kind is taken for one.
  const job = headers['job-token'] ?? sent['job_token'] ?? undefined
  if (own === undefined && job !== undefined) throw unauthorized()
  const given = own ?? bearer(headers.authorization) ?? sent['access_token'] ?? undefined
  if (given === undefined) return undefined
  if (typeof given !== 'string' || given === '') throw unauthorized()
  return given
}

/** `Bearer` without a token is a token of a wrong form; another scheme is none of ours. */
function bearer(authorization = ''): string | undefined {
  const found = /^bearer(?:\s+(.*))?$/i.exec(authorization)
  return found === null ? undefined : (found[1] ?? '')
}

/** The password of HTTP Basic, whatever the user name; '' stands for credentials that no token can be read from. */
export function passwordOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  const sent = /^basic\s+(.*)$/i.exec(authorization)?.[1]
  if (sent === undefined) return undefined
  const [name = '', ...password] = Buffer.from(sent, 'base64').toString().split(':')
  // No operation takes a job's token yet: it comes under this name.
  return name === 'gitlab-ci-token' ? '' : password.join(':')
}
