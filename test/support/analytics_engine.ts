import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { jwtVerify, type JWTPayload } from 'jose'
import { sealSetting } from '../../src/access/secret_settings.ts'
import { setSetting } from '../../src/core/settings/settings.ts'
import type { World } from './world.ts'

/** A request that the engine received. */
export interface EngineRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly claims: JWTPayload
  readonly body: unknown
}
type Behaviour = (request: EngineRequest, response: ServerResponse) => void

export interface AnalyticsEngine {
  readonly url: string
  readonly requests: EngineRequest[]
  /** Connections that were opened so far. */
  readonly connections: () => number
  /** Answers with this instead of the recorded answers, until called again. */
  readonly behave: (behaviour?: Behaviour) => void
  readonly close: () => Promise<void>
}

const ENGINE_KEY = 'a secret that only engine and instance know'

/** Status and body that a real engine answered with. */
export function recorded(name: string): { readonly status: number; readonly body: string } {
  const text = readFileSync(new URL(`../fixtures/cube/${name}.txt`, import.meta.url), 'utf8')
  const [head = '', body = ''] = text.split(/\r?\n\r?\n/, 2)
  return { status: Number(head.split(' ')[1]), body: body.trim() }
}

export function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(body)
}

const isBadMember = (body: unknown): boolean => JSON.stringify(body).includes('Sessions.nope')
const replay: Behaviour = ({ path, body }, response) => {
  const name = path.replace('/cubejs-api/v1/', '')
  const { status, body: text } = recorded(isBadMember(body) ? 'load-badmember' : name)
  send(response, status, text)
}

/** An engine on this machine that checks tokens as the real one does and replays its recorded answers. */
export async function openEngine(): Promise<AnalyticsEngine> {
  const requests: EngineRequest[] = []
  let [behaviour, connections] = [replay, 0]
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { authorization = '' } = request.headers
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const verified = await jwtVerify(authorization, Buffer.from(ENGINE_KEY)).catch(() => undefined)
    if (verified === undefined) {
      const { status, body: refusal } = recorded(authorization === '' ? 'noauth' : 'badjwt')
      return send(response, status, refusal)
    }
    const { method = '', url: path = '', headers } = request
    const asked = {
      method,
      path,
      headers,
      claims: verified.payload,
      body: body === '' ? null : (JSON.parse(body) as unknown),
    }
    requests.push(asked)
    behaviour(asked, response)
  }
  const server = createServer((request, response) => void answer(request, response))
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // An engine that nobody closes does not keep its process alive.
  server.unref()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    connections: () => connections,
    behave: (given = replay) => void (behaviour = given),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Lets an instance use the engine. */
export async function useEngine({ opened }: World, { url }: Pick<AnalyticsEngine, 'url'>): Promise<void> {
  const { db, settings, vault } = opened.instance
  await setSetting(db, 'allow_local_requests_from_web_hooks_and_services', true)
  await setSetting(db, 'analytics_api_base_url', url)
  await setSetting(db, 'analytics_api_key', sealSetting(vault, ENGINE_KEY))
  await settings.reload()
}
