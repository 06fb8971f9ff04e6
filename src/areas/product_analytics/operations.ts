import { Type as t } from 'typebox'
import { analyticsApiKey } from '../../access/secret_settings.ts'
import { askEngine, engineMeta, type EngineCall, type Question } from '../../analytics/engine.ts'
import { EngineFault, type EngineAnswer } from '../../analytics/engine_answer.ts'
import { QueryRefusal, type EngineQuery } from '../../analytics/engine_query.ts'
import { OutboundFault } from '../../core/settings/outbound_requests.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Actor, Has } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { Problem, refused } from '../../http/problems.ts'
import { makeEngineToken } from './access_token.ts'
import { first, gates } from './gates.ts'

const badGateway = (text = 'Connection refused'): Problem => new Problem(502, { message: text })
const noDatabase = (): Problem => new Problem(404, { message: '404 Clickhouse Database Not Found' })

/** Clients of the engine read its answers, so they pass as they are. */
const Answer = t.Unsafe<EngineAnswer>({
  type: 'object',
  additionalProperties: true,
  description: 'The body of the analytics engine; `{"error":"Continue wait"}` while it is still computing',
})

/** A query comes as JSON text where it stands in the address, as the engine's own clients send it. */
const queryParams = {
  query: t.Unsafe<EngineQuery>({
    type: 'object',
    json: true,
    description: 'measures, dimensions, segments, timeDimensions, filters, order, limit and the like',
  }),
  queryType: t.String({ default: 'multi' }),
}
const loadParams = t.Object({
  ...queryParams,
  include_token: t.Boolean({
    default: false,
    description: 'Whether the engine is given a token of the project: funnels need one',
  }),
})

type Here = Has<{ actor: Actor; project: Project }>

const callOf = (ctx: Here, access_token?: string): EngineCall => ({
  project_id: ctx.project.id,
  key: analyticsApiKey(ctx),
  access_token,
  now: ctx.now,
})

async function ask(
  ctx: Here,
  endpoint: 'load' | 'dry-run',
  { include_token = false, ...question }: Question & { readonly include_token?: boolean },
): Promise<EngineAnswer> {
  const token = include_token ? await makeEngineToken(ctx) : undefined
  return askEngine(ctx, callOf(ctx, token), endpoint, question).catch(asProblem)
}
const meta = (ctx: Here): Promise<EngineAnswer> => engineMeta(ctx, callOf(ctx)).catch(asProblem)

function asProblem(error: unknown): never {
  if (error instanceof QueryRefusal) throw refused(error.message)
  if (error instanceof OutboundFault) throw badGateway(error.message)
  if (error instanceof EngineFault)
    throw {
      missing: noDatabase,
      refused: () => refused(error.message),
      bad: () => badGateway(error.message),
    }[error.kind]()
  throw error
}

const shared = {
  first,
  gates,
  returns: Answer,
  status: 200,
  refuses: [badGateway, noDatabase, refused('Query is invalid')],
} as const

export const loadAnalytics = operation({
  method: 'POST',
  path: '/projects/:id/product_analytics/request/load',
  summary: 'Run a query of the analytics engine',
  moves: 'upstream',
  params: loadParams,
  ...shared,
  handle: async (ctx) => ask(ctx, 'load', ctx.params),
})

export const checkAnalytics = operation({
  method: 'POST',
  path: '/projects/:id/product_analytics/request/dry-run',
  summary: 'Plan a query of the analytics engine without running it',
  moves: 'upstream',
  params: loadParams,
  ...shared,
  handle: async (ctx) => ask(ctx, 'dry-run', ctx.params),
})

export const getAnalyticsMeta = operation({
  method: 'GET',
  path: '/projects/:id/product_analytics/request/meta',
  summary: 'Get the cubes that can be queried, with their members',
  ...shared,
  handle: meta,
})

export const queryAnalyticsMeta = operation({
  method: 'POST',
  path: '/projects/:id/product_analytics/request/meta',
  summary: 'Get the cubes that can be queried, with their members',
  published: true,
  moves: 'upstream',
  ...shared,
  handle: meta,
})
