import { Type as t } from 'typebox'
import { UNNAMED, findReceiving, isKeyOf, type Receiving } from '../../alerts/integrations.ts'
import { hasRequiredKeys, isMetricsFormat } from '../../alerts/prometheus.ts'
import { isPayload, type Payload } from '../../alerts/values.ts'
import { jsonOf } from '../../http/params/body.ts'
import { allows, loads, type Context, type Gate, type Has, type Loads } from '../../http/gate.ts'
import { bodiless, Problem } from '../../http/problems.ts'

// Refusals come in the published order: the payload, the integration, the key. None has a body.

const unreadable = (): Problem => bodiless(400)
const incomplete = (): Problem => bodiless(422)
export const notReceiving = (): Problem => bodiless(403)
export const wrongKey = (): Problem => bodiless(401)
export const refusals = [incomplete, wrongKey] as const

/** Levels of a payload, as published. */
const DEPTH = 100

export interface Sent {
  readonly payload: Payload
  /** The payload as it was sent. */
  readonly text: string
  /** Whether it is of the metrics format, which its keys decide and not the URL. */
  readonly metrics: boolean
}

function read({ bytes }: Context): Sent | undefined {
  try {
    const payload = jsonOf(bytes, DEPTH) ?? {}
    // Without a byte order mark, which PostgreSQL refuses: JavaScript counts it as white space.
    const text = bytes.toString().trim() || '{}'
    return isPayload(payload) ? { payload, text, metrics: isMetricsFormat(payload) } : undefined
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

type Reads = Gate<'checks', never, object, Sent>
export const payload: Reads = {
  kind: 'checks',
  says: `a JSON object of up to ${DEPTH} levels`,
  refuses: unreadable,
  pass: read,
}
export const metricsPayload: Reads = {
  kind: 'checks',
  says: `${payload.says}, with the keys of the metrics format (422)`,
  refuses: unreadable,
  pass: (ctx) => {
    const sent = read(ctx)
    if (sent !== undefined && !hasRequiredKeys(sent.payload)) throw incomplete()
    return sent
  },
}

type Finds<Needs extends object> = Loads<'project_full_path', Needs, { readonly integration: Receiving }>

/** The active integration at a URL. The metrics format does not tell an absent one from a wrong key. */
const integrationAt = <Needs extends object>(
  endpointOf: (ctx: Context & Needs) => string,
  missing = notReceiving,
): Finds<Needs & Sent> =>
  loads({
    param: 'project_full_path',
    type: t.String({ description: 'The full path of the project, as it is' }),
    as: 'integration',
    says: 'an active integration of the project',
    missing,
    find: async (ctx: Context & Needs & Sent, fullPath) => {
      const found = await findReceiving(ctx.db, fullPath, endpointOf(ctx))
      if (found === undefined && ctx.metrics) throw wrongKey()
      return found
    },
  })

export const firstHttp = integrationAt(() => UNNAMED.http)
export const firstPrometheus = integrationAt(() => UNNAMED.prometheus, wrongKey)
export const namedIntegration = integrationAt(
  ({ params }: Has<{ params: { readonly endpoint: string } }>) => params.endpoint,
)

export const keyHolder = allows({
  says: "a sender with the integration's key, as a bearer token or as the password of HTTP Basic",
  refuses: wrongKey,
  holds: ({ integration, header }: Has<{ integration: Receiving }>) =>
    isKeyOf(integration, keyIn(header('authorization'))),
})

/** The key that a header presents; '' for none, which no integration has. */
function keyIn(authorization = ''): string {
  const [, scheme = '', given = ''] = /^(bearer|basic) +(\S+)\s*$/i.exec(authorization) ?? []
  if (scheme.toLowerCase() !== 'basic') return given
  const pair = Buffer.from(given, 'base64').toString()
  return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : ''
}
