import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

export interface Mail {
  readonly from: string
  readonly to: string
  readonly text: string
}
/** A mail server that keeps what it is given. */
export interface MailServer {
  readonly url: string
  readonly mails: readonly Mail[]
  /** How many of the next mails are put off, as a busy server does. */
  refuse: number
  readonly refused: () => number
  close(): Promise<void>
}

export async function openMailServer(): Promise<MailServer> {
  const mails: Mail[] = []
  const sockets = new Set<Socket>()
  const state = { refuse: 0, refused: 0 }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    serve(socket, (mail) => {
      if (state.refuse > 0) {
        state.refuse--
        state.refused++
        return '451 later'
      }
      mails.push(mail)
      return '250 taken'
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    set refuse(count: number) {
      state.refuse = count
    },
    get refuse() {
      return state.refuse
    },
    refused: () => state.refused,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

/** As much of the protocol as a sender needs: one line, one answer, but for the text of a mail. */
function serve(socket: Socket, take: (mail: Mail) => string): void {
  const say = (text: string): void => void socket.write(`${text}\r\n`)
  let [from, to, rest] = ['', '', '']
  let inText = false
  socket.setEncoding('utf8')
  say('220 ready')
  socket.on('data', (chunk: string) => {
    rest += chunk
    for (;;) {
      const end = rest.indexOf(inText ? '\r\n.\r\n' : '\r\n')
      if (end === -1) return
      const line = rest.slice(0, end)
      rest = rest.slice(end + (inText ? 5 : 2))
      if (inText) {
        inText = false
        say(take({ from, to, text: line }))
        continue
      }
      const word = line.slice(0, 4).toUpperCase()
      if (word === 'MAIL') from = line.replace(/.*<(.*?)>.*/, '$1')
      if (word === 'RCPT') to = line.replace(/.*<(.*?)>.*/, '$1')
      inText = word === 'DATA'
      say(word === 'DATA' ? '354 go on' : word === 'QUIT' ? '221 bye' : '250 well')
    }
  })
}
