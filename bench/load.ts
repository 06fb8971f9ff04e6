import autocannon from 'autocannon'

// The load generator, a process of its own: each message asks for one round and gets one answer.

const CONNECTIONS = 16

export interface Round {
  readonly url: string
  readonly token: string
  readonly seconds: number
}
export interface Measured {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Answers that were no 200, and requests that got none. */
  readonly wrong: number
}

function measure({ url, token, seconds }: Round): Promise<Measured> {
  if (new URL(url).hostname !== '127.0.0.1') throw new Error('load is for this machine only')
  const times: number[] = []
  let wrong = 0
  let ended = 0
  const began = performance.now()
  const headers = { 'private-token': token }
  return new Promise((resolve, reject) => {
    const run = autocannon({ url, connections: CONNECTIONS, duration: seconds, headers }, (error) => {
      if (error) return reject(error)
      times.sort((a, b) => a - b)
      const at = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? 0
      resolve({ perSecond: (times.length / (ended - began)) * 1000, p50: at(0.5), p99: at(0.99), wrong })
    })
    run.on('response', (_client, status, _bytes, ms) => {
      times.push(ms)
      ended = performance.now()
      if (status !== 200) wrong++
    })
    run.on('reqError', () => wrong++)
  })
}

process.on('message', (round: Round) => {
  void measure(round).then((measured) => process.send?.(measured))
})
