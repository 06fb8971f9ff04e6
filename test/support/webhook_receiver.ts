import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setSetting } from '../../src/core/settings/settings.ts'
import type { World } from './world.ts'

/** A request that the receiver got. */
export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
  readonly text: string
}
type Behaviour = (response: ServerResponse, request: Received) => void

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** Answers with this instead of 200, until called again. */
  readonly behave: (behaviour?: Behaviour) => void
  readonly close: () => Promise<void>
}

/** A server on this machine that keeps what it is sent. It does not keep the process alive. */
export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const usual: Behaviour = (response) => void response.end('received')
  let behaviour = usual
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const one = { headers: request.headers, body: JSON.parse(text) as Received['body'], text }
      received.push(one)
      behaviour(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    behave: (given = usual) => void (behaviour = given),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** Lets the instance of a world connect to this machine. */
export async function allowLocal({ opened }: World, allowed = true): Promise<void> {
  const { db, settings } = opened.instance
  await setSetting(db, 'allow_local_requests_from_web_hooks_and_services', allowed)
  await settings.reload()
}
