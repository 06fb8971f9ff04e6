import { Agent, request } from 'node:http'

/** Requests of one kind, from several connections at once. */
export interface Posts {
  readonly url: string
  readonly method?: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  /** The body of the nth request. */
  readonly body?: (n: number) => string
  readonly connections: number
  readonly seconds: number
}

export interface Posted {
  /** Answers of status 200 in each second. */
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Answers of another status, and requests that got none. */
  readonly refused: number
}

let sent = 0

/** Sends as fast as answers come. Bodies differ over all calls of this process. */
export async function sendAll({ connections, seconds, ...call }: Posts): Promise<Posted> {
  if (new URL(call.url).hostname !== '127.0.0.1') throw new Error('load is for this machine only')
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const times: number[] = []
  let refused = 0
  const began = performance.now()
  const end = began + seconds * 1_000
  const connection = async (): Promise<void> => {
    while (performance.now() < end) {
      const start = performance.now()
      const status = await sendOne(agent, call, (sent += 1)).catch(() => 0)
      if (status === 200) times.push(performance.now() - start)
      else refused += 1
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
  const took = (performance.now() - began) / 1_000
  agent.destroy()
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? 0
  return { perSecond: times.length / took, p50: at(0.5), p99: at(0.99), refused }
}

const sendOne = (
  agent: Agent,
  { url, method = 'POST', headers, body }: Omit<Posts, 'connections' | 'seconds'>,
  n: number,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const text = body?.(n) ?? ''
    const length = { 'content-length': String(Buffer.byteLength(text)) }
    const asked = request(url, { agent, method, headers: { ...headers, ...(body && length) } }, (answer) => {
      answer.resume()
      answer.once('end', () => resolve(answer.statusCode ?? 0))
      answer.once('error', reject)
    })
    asked.once('error', reject)
    asked.end(text)
  })
