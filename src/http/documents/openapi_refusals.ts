import type { AnyGate } from '../gate.ts'
import { hasMoved } from '../redirect.ts'
import { answerTooLarge, badKey, interrupted, otherRequest, underWay } from '../idempotency/refusals.ts'
import { gatesOf, pageOptionsOf, type NamedOperation } from '../operation.ts'
import { recordOf } from '../precondition.ts'
import {
  badParams,
  bodyTooLarge,
  hasNoBody,
  headersTooLarge,
  insufficientScope,
  internalError,
  noKeyset,
  objectTooLarge,
  preconditionFailed,
  requestTimeout,
  revokedToken,
  storageFull,
  tooManyLargeBodies,
  tooManyRequests,
  unauthorized,
  unavailable,
  unsupportedEncoding,
  urlTooLong,
  type Problem,
} from '../problems.ts'

type Json = Record<string, unknown>

const MESSAGE = { $ref: '#/components/schemas/Message' }
const ERROR = { $ref: '#/components/schemas/Error' }
const TOKEN_ERROR = { $ref: '#/components/schemas/TokenError' }

const SIGN_IN_REFUSALS = [unauthorized(), revokedToken(), insufficientScope(['api', 'read_api'])]

/** Every status an operation may refuse with, the kernel's own included, as OpenAPI responses. */
export function refusals(op: NamedOperation): Json {
  const page = pageOptionsOf(op.returns)
  const problems: Problem[] = [
    badParams(['X is invalid']),
    ...(op.inbound ? [op.inbound.tooLarge(), op.inbound.busy()] : []),
    ...(op.inbound || op.ownToken ? [] : SIGN_IN_REFUSALS),
    ...gatesOf(op).map((gate: AnyGate) => gate.refuses()),
    ...(op.refuses ?? []).map((refusal) => (typeof refusal === 'function' ? refusal() : refusal)),
    ...(recordOf(op) === undefined ? [] : [preconditionFailed()]),
    ...(op.method !== 'GET' && mayMove(op) ? [hasMoved()] : []),
    ...(mayMove(op) ? [objectTooLarge()] : []),
    ...(page && !page.keyset ? [noKeyset()] : []),
    ...(op.method === 'GET' || op.inbound ? [] : [bodyTooLarge(), unsupportedEncoding()]),
    ...(op.method === 'GET' ? [] : [storageFull()]),
    ...(takesKey(op) ? [badKey(), otherRequest(), underWay(), interrupted(), answerTooLarge()] : []),
    ...(op.takes === undefined ? [] : [tooManyLargeBodies()]),
    requestTimeout(),
    urlTooLong(),
    tooManyRequests({}),
    headersTooLarge(),
    internalError(),
    unavailable(),
  ]
  const byStatus = new Map<number, Problem[]>()
  for (const problem of problems)
    byStatus.set(problem.status, [...(byStatus.get(problem.status) ?? []), problem])
  return Object.fromEntries([...byStatus].map(([status, some]) => [status, refusal(some)]))
}

/** Whether the operation heeds an `Idempotency-Key`. */
export const takesKey = (op: NamedOperation): boolean => op.method !== 'GET' && op.inbound === undefined

/** Whether the operation's project may answer from another address by now. */
export const mayMove = (op: NamedOperation): boolean =>
  gatesOf(op).some(({ preload }) => preload === 'project')

function refusal(all: readonly Problem[]): Json {
  const problems = all.filter((problem) => !hasNoBody(problem))
  if (problems.length === 0) return { description: 'A status line without a body' }
  const shapes = [...new Set(problems.map(shapeOf))]
  const bodies = [...new Map(problems.map(({ body }) => [JSON.stringify(body), body])).values()]
  return {
    description: bodies.map((body) => JSON.stringify(body)).join(' or '),
    content: {
      'application/json': {
        schema: shapes.length === 1 ? shapes[0] : { anyOf: shapes },
        examples: Object.fromEntries(bodies.map((value, i) => [`example_${i + 1}`, { value }])),
      },
    },
  }
}

const shapeOf = ({ body }: Problem): Json =>
  'message' in body ? MESSAGE : 'error_description' in body ? TOKEN_ERROR : ERROR
