import type { Readable } from 'node:stream'
import { GitRefusal } from '../access/git_access.ts'
import type { GitProcess } from '../git/processes/spawner_link.ts'

interface RelayOptions {
  /** Fires when the client is gone. */
  readonly gone: AbortSignal
  /** Milliseconds in which a byte must move, either way. */
  readonly silenceMs: number
}

/**
 * Lets a client speak with a git process: `body` goes in, and what comes out is returned to be sent. Each side waits for
 * the other. Git is ended when the client has gone, and when nothing moves for too long.
 */
export function relay(git: GitProcess, body: Readable, { gone, silenceMs }: RelayOptions): Readable {
  const { socket } = git
  const stop = (error?: Error): void => {
    git.kill()
    socket.destroy(error)
    body.destroy()
  }
  const leave = (): void => stop()
  let moved = -1
  const watch = setInterval(() => {
    const now = socket.bytesRead + socket.bytesWritten
    if (now === moved) stop(new GitRefusal(408, 'The request came to a halt.'))
    moved = now
  }, silenceMs)
  gone.addEventListener('abort', leave, { once: true })
  if (gone.aborted) stop()
  // Git may end without having read everything; what is left is thrown away so that the client hears the answer.
  socket.once('end', () => socket.destroy())
  socket.once('close', () => {
    clearInterval(watch)
    gone.removeEventListener('abort', leave)
    body.unpipe(socket).resume()
  })
  body.once('error', stop)
  body.pipe(socket)
  return socket
}
