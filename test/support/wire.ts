import { connect, type AddressInfo, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Opens a loopback port of the system's choice and gives its number. */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

/** The bytes that a server wrote on one connection until it closed it, or until `wait` milliseconds passed. */
export interface Heard {
  readonly text: string
  /** The status of each answer. */
  readonly statuses: readonly number[]
  readonly closed: boolean
  /** Bytes that were written before the server closed. */
  readonly written: number
}

/** Writes bytes as they are, without an HTTP client between, and hears the server out. */
export async function speak(
  port: number,
  write: string | Buffer | ((socket: Socket) => Promise<void>),
  wait = 10_000,
): Promise<Heard> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  let closed = false
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  const over = new Promise<void>((resolve) => {
    socket.on('close', () => {
      closed = true
      resolve()
    })
    setTimeout(resolve, wait).unref()
  })
  if (typeof write === 'function') await Promise.race([write(socket), over])
  else socket.write(write)
  await over
  const written = socket.bytesWritten
  socket.destroy()
  const text = Buffer.concat(chunks).toString('latin1')
  return {
    text,
    closed,
    written,
    statuses: [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, code]) => Number(code)),
  }
}

/** A request's text: a line, headers and a body, the lines ended as HTTP wants them. */
export const request = (line: string, headers: Readonly<Record<string, string>> = {}, body = ''): string =>
  [
    `${line} HTTP/1.1`,
    'Host: guild.example',
    ...Object.entries({ Connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n')

/** The part after the head of the first answer. */
export const bodyOf = ({ text }: Heard): string => text.slice(text.indexOf('\r\n\r\n') + 4)
