/**
 * A refusal the contract knows. Thrown anywhere between a request and its answer; everything else thrown is a bug.
 * `body` goes out word for word, unless the caller asked for `application/problem+json`.
 */
export class Problem extends Error {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, body: Record<string, unknown>, headers: Record<string, string> = {}) {
    super(`${status} ${JSON.stringify(body)}`)
    this.name = 'Problem'
    this.status = status
    this.body = body
    this.headers = headers
  }
}

// Three shapes, as published. `message`: the service refuses. `error`: a parameter or a route is wrong.
// `error` with `error_description`: a token that was found and will not do.
const message = (status: number, text: string | object, headers?: Record<string, string>): Problem =>
  new Problem(status, { message: text }, headers)
const error = (status: number, text: string, headers?: Record<string, string>): Problem =>
  new Problem(status, { error: text }, headers)
const because = (text: string, reason: string | undefined): string =>
  reason === undefined ? text : `${text} - ${reason}`

/** A status line without a body, as the published receivers answer programs. */
export const bodiless = (status: number, headers: Record<string, string> = {}): Problem =>
  new Problem(status, {}, headers)
export const hasNoBody = ({ body }: Problem): boolean => Object.keys(body).length === 0

/** A refusal by a rule of the product, its text given whole. */
export const refused = (text: string, more: Readonly<Record<string, string>> = {}): Problem =>
  new Problem(400, { message: text, ...more })
/** A record that would not be valid: attribute to texts. */
export const invalid = (fields: Record<string, readonly string[]>): Problem => message(400, fields)
export const unauthorized = (): Problem => message(401, '401 Unauthorized')
export const forbidden = (reason?: string): Problem => message(403, because('403 Forbidden', reason))
/** A named look-up that found nothing the caller may know of: `404 Project Not Found`. */
export const notFound = (thing: string): Problem => message(404, `404 ${thing} Not Found`)
/** A record that is missing inside a parent the caller can see. */
export const noSuchRecord = (): Problem => message(404, '404 Not found')
/** The same, where the published text is a sentence of its own: `Alert not found`. */
export const absent = (text: string): Problem => message(404, text)
/** A token that was looked up and is none. */
export const noSuchToken = (): Problem => message(404, { error: 'Not found' })
export const conflict = (text: string | object = '409 Conflict'): Problem => message(409, text)
export const preconditionFailed = (): Problem => message(412, '412 Precondition Failed')
/** The requested content is larger than this operation sends. */
export const tooLarge = (text: string): Problem => message(413, text)
/** Git holds an object, or found a result, of more bytes than the server reads for one request. */
export const objectTooLarge = (): Problem => tooLarge('413 Request Entity Too Large')
/** A record that would not be valid, where the published interface gives whole sentences. */
export const unprocessable = (
  texts: string | readonly string[] | { readonly error: readonly string[] },
): Problem => message(422, texts)
/** A parameter that can be read and not kept. */
export const badValue = (text: string): Problem => error(422, text)
export const tooManyRequests = (headers: Record<string, string>): Problem =>
  message(429, 'Retry later', headers)
/** As many large bodies as fit are being worked on; `seconds` is a whole number. */
export const tooManyLargeBodies = (seconds = 30): Problem =>
  message(429, '429 Too Many Requests', { 'retry-after': String(seconds), connection: 'close' })
export const internalError = (): Problem => message(500, '500 Internal Server Error')
/** The disk or the blob store has no room left. */
export const storageFull = (): Problem => message(507, '507 Insufficient Storage')
/** Something this server leans on is away for the moment; `seconds` is a whole number. */
export const unavailable = (seconds = 1): Problem =>
  message(503, '503 Service Unavailable', { 'retry-after': String(seconds) })

/** One or more parameter faults, already worded: `name is missing, color is invalid`. */
export const badParams = (texts: readonly string[]): Problem => error(400, texts.join(', '))
export const badBody = (): Problem => error(400, 'message body does not match declared format')
export const badUrl = (): Problem => error(400, 'the request address is not valid')
export const bodyTooComplex = (limit: string): Problem =>
  error(400, `message body exceeds the limit: ${limit}`)
export const noFileUploads = (): Problem =>
  error(400, 'This endpoint does not support form encoded file uploads')
export const bodyTooLarge = (): Problem => error(413, 'Request Entity Too Large', { connection: 'close' })
export const unsupportedMediaType = (type: string): Problem =>
  error(415, `The provided content-type '${type}' is not supported.`)
export const unsupportedEncoding = (): Problem => error(415, 'Compressed request bodies are not supported.')
export const requestTimeout = (): Problem => error(408, '408 Request Timeout', { connection: 'close' })
export const urlTooLong = (): Problem => error(414, '414 URI Too Long')
export const rangeNotSatisfiable = (size: number): Problem =>
  error(416, '416 Range Not Satisfiable', { 'content-range': `bytes */${size}` })
export const headersTooLarge = (): Problem => error(431, '431 Request Header Fields Too Large')
/** Bytes that are no request at all. */
export const badRequest = (): Problem => error(400, '400 Bad Request')
export const noRoute = (): Problem => error(404, '404 Not Found')
export const methodNotAllowed = (allow: string): Problem => error(405, '405 Not Allowed', { allow })
/** The record is of a kind that this method does nothing to; the text is the operation's own. */
export const rejected = (text: string): Problem => message(405, text)
export const oldVersion = (): Problem => error(410, 'API V3 is no longer supported. Use API V4 instead.')
export const noKeyset = (): Problem =>
  error(405, 'Keyset pagination is not yet available for this type of request')
export const offsetTooDeep = (limit: number, type: string): Problem =>
  error(
    405,
    `Offset pagination has a maximum allowed offset of ${limit} for requests that return objects of type ${type}. ` +
      'Remaining records can be retrieved using keyset pagination.',
  )

const tokenProblem = (description: string): Problem =>
  new Problem(401, { error: 'invalid_token', error_description: description })
export const expiredToken = (): Problem =>
  tokenProblem('Token is expired. You can either do re-authorization or token refresh.')
export const revokedToken = (): Problem =>
  tokenProblem('Token was revoked. You have to re-authorize from the user.')
export const impersonationDisabled = (): Problem =>
  tokenProblem('Token is an impersonation token but impersonation was disabled.')
/** The token is good and its scopes are too small; `scopes` are the ones that would do. */
export const insufficientScope = (scopes: readonly string[]): Problem =>
  new Problem(403, {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: scopes.join(' '),
  })
