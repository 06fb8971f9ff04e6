import type { LightMyRequestResponse } from 'fastify'
import { outside } from './git_outside.ts'
import type { World } from './world.ts'

interface Page {
  readonly status: number
  readonly text: string
  readonly headers: LightMyRequestResponse['headers']
}

/** A browser without scripts: it keeps cookies and fills forms. */
export interface ConsoleClient {
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Page>
  /** Sends fields to an address with the proof of the form on `from`. */
  readonly submit: (
    from: string,
    action: string,
    fields: Record<string, string>,
    headers?: Record<string, string>,
  ) => Promise<Page>
  readonly post: (
    action: string,
    fields: Record<string, string>,
    headers?: Record<string, string>,
  ) => Promise<Page>
  readonly signIn: (token: string) => Promise<void>
  readonly cookies: Map<string, string>
}

export function createConsoleClient(world: World): ConsoleClient {
  const cookies = new Map<string, string>()
  const send = async (
    method: 'GET' | 'POST',
    url: string,
    headers: Record<string, string>,
    payload?: string,
  ): Promise<Page> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await outside(() =>
      world.app.inject({
        method,
        url,
        headers: { accept: 'text/html', host: 'guild.example', ...(cookie && { cookie }), ...headers },
        ...(payload !== undefined && { payload }),
      }),
    )
    for (const { name, value, maxAge } of response.cookies)
      if (maxAge === 0) cookies.delete(name)
      else cookies.set(name, value)
    return { status: response.statusCode, text: response.body, headers: response.headers }
  }
  const client: ConsoleClient = {
    cookies,
    get: (path, headers = {}) => send('GET', path, headers),
    post: (action, fields, headers = {}) =>
      send(
        'POST',
        action,
        { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        new URLSearchParams(fields).toString(),
      ),
    submit: async (from, action, fields, headers) => {
      const { text } = await client.get(from)
      const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? ''
      return client.post(action, { csrf, ...fields }, headers)
    },
    signIn: async (token) => {
      const { status, text } = await client.submit('/users/sign_in', '/users/sign_in', { token })
      if (status !== 303) throw new Error(`signing in answered ${status}: ${text}`)
    },
  }
  return client
}
