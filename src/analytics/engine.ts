import { SignJWT } from 'jose'
import type { Instance } from '../instance.ts'
import { readAnswer, type EngineAnswer } from './engine_answer.ts'
import { checkQuery, type EngineQuery } from './engine_query.ts'
import { withMissingDays } from './missing_days.ts'

// The analytics engine (Cube): requests on behalf of a project. It tells projects apart by the claim `appId`.

/** Seconds that the engine accepts a request's token. */
const TOKEN_LIFETIME = 180

export interface EngineCall {
  readonly project_id: number
  /** Signs the token: the engine's API secret. */
  readonly key: string
  /** A token of the project, with which the engine reads definitions of funnels here. */
  readonly access_token?: string | undefined
  readonly now: Date
}
export interface Question {
  readonly query: EngineQuery
  readonly queryType: string
}

type Here = Pick<Instance, 'config' | 'outbound' | 'settings'>

/** The cubes that projects may query. */
const cubesOf = ({ settings }: Pick<Here, 'settings'>): string[] => settings.get('analytics_cubes').split(',')

/** Runs a query, or only plans it. Throws QueryRefusal, EngineFault or OutboundFault. */
export async function askEngine(
  here: Here,
  call: EngineCall,
  endpoint: 'load' | 'dry-run',
  question: Question,
): Promise<EngineAnswer> {
  checkQuery(question.query, cubesOf(here))
  const { query, queryType } = question
  const answer = await send(here, call, endpoint, JSON.stringify({ query, queryType }))
  const { results = null } = answer
  // As published: an engine that plans a query gives no results. A client that is told to wait gets that alone.
  if (endpoint === 'dry-run') return 'error' in answer ? answer : { ...answer, results }
  return Array.isArray(results)
    ? { ...answer, results: results.map((result: unknown) => filled(result, query)) }
    : filled(answer, query)
}

/** The engine's metadata, limited to the cubes of projects. Throws EngineFault or OutboundFault. */
export async function engineMeta(here: Here, call: EngineCall): Promise<EngineAnswer> {
  const answer = await send(here, call, 'meta')
  const cubes = cubesOf(here)
  if (!Array.isArray(answer['cubes'])) return answer
  return {
    ...answer,
    cubes: answer['cubes'].filter((cube) => isAnswer(cube) && cubes.includes(String(cube['name']))),
  }
}

const isAnswer = (value: unknown): value is EngineAnswer => typeof value === 'object' && value !== null

/** Answers that are no result with rows pass unchanged. */
const filled = <Result>(result: Result, query: EngineQuery): Result =>
  isAnswer(result) && Array.isArray(result['data']) && result['data'].every(isAnswer)
    ? { ...result, data: withMissingDays(result['data'], query) }
    : result

async function send(here: Here, call: EngineCall, endpoint: string, body?: string): Promise<EngineAnswer> {
  const base = here.settings.get('analytics_api_base_url').replace(/\/+$/, '')
  const { status, body: bytes } = await here.outbound.send({
    method: body === undefined ? 'GET' : 'POST',
    url: new URL(`${base}/cubejs-api/v1/${endpoint}`),
    headers: {
      accept: 'application/json',
      authorization: await sign(call, here.config.hostname),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  })
  return readAnswer(status, bytes)
}

/** The claims are the published ones: engines in the field choose a project's database by `appId`. */
function sign({ project_id, key, access_token, now }: EngineCall, issuer: string): Promise<string> {
  const issued = Math.floor(now.getTime() / 1000)
  return new SignJWT({
    appId: `gitlab_project_${project_id}`,
    ...(access_token !== undefined && { gitlabToken: access_token }),
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt(issued)
    .setExpirationTime(issued + TOKEN_LIFETIME)
    .setIssuer(issuer)
    .sign(Buffer.from(key))
}
