/*
 * The program of the spawner child. It stays small, because starting a process costs event loop in proportion to the
 * memory of the process that starts it. For each connection it reads one line, a LaunchOrder, and starts git with that
 * very connection as stdin and stdout: what git reads and writes never passes through here.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { graceMs, isKillOrder, killGroup, stderrTailBytes } from './spawner_protocol.ts'
import type { ChildReport, Ending, LaunchOrder } from './spawner_protocol.ts'

const maxOrderBytes = 8 * 1024 * 1024
const orderWaitMs = 10_000
const progressEveryMs = 100
const stderrWaitMs = 250

const running = new Map<number, number>()
const directory = mkdtempSync(join(process.argv[2] ?? '/tmp', 'guildhall-git-'))

function report(message: ChildReport): void {
  // The callback swallows the error of a channel that closed meanwhile: 'disconnect' deals with that.
  process.send?.(message, undefined, undefined, () => undefined)
}

function receive(socket: Socket): void {
  const chunks: Buffer[] = []
  let size = 0
  const onChunk = (chunk: Buffer): void => {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxOrderBytes) socket.destroy()
    // The main process sends nothing after the line until it has heard 'started', so nothing is read too far.
    else if (chunk.at(-1) === 10) {
      socket.off('data', onChunk)
      socket.pause()
      socket.setTimeout(0)
      const order: LaunchOrder = JSON.parse(Buffer.concat(chunks).toString())
      launch(socket, order)
    }
  }
  socket.setTimeout(orderWaitMs, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.on('data', onChunk)
}

function launch(socket: Socket, order: LaunchOrder): void {
  let git: ChildProcess
  try {
    git = spawn(order.binary, [...order.args], {
      cwd: '/',
      env: { ...order.env },
      // A group of its own: one signal reaches git and all that git starts, and no terminal can be prompted on.
      detached: true,
      stdio: [order.input ? socket : 'ignore', socket, 'pipe'],
    })
  } catch (error) {
    socket.destroy()
    reportFailure(order.id, error)
    return
  }
  // Closes our copy only: git holds its own, and the main process sees the end when git ends.
  socket.destroy()
  git.on('error', (error) => {
    if (git.pid === undefined) reportFailure(order.id, error)
  })
  if (git.pid !== undefined) follow(git, git.pid, order)
}

function reportFailure(id: number, error: unknown): void {
  const failure = error instanceof Error ? error.message : String(error)
  report({ kind: 'ended', id, ending: { code: null, signal: null, stderr: '', timedOut: false, failure } })
}

function follow(git: ChildProcess, pid: number, order: LaunchOrder): void {
  const { id } = order
  const ending: Ending = { code: null, signal: null, stderr: '', timedOut: false }
  const stderr = listen(git, order)
  running.set(id, pid)
  const clock = setTimeout(
    () => {
      ending.timedOut = true
      kill(id)
    },
    order.timeoutMs === 0 ? 2 ** 31 - 1 : order.timeoutMs,
  )
  if (order.timeoutMs === 0) clearTimeout(clock)
  let told = false
  const tell = (): void => {
    if (told) return
    told = true
    report({ kind: 'ended', id, ending: { ...ending, stderr: stderr() } })
  }
  git.once('exit', (code, signal) => {
    clearTimeout(clock)
    running.delete(id)
    Object.assign(ending, { code, signal })
    // Processes that git left in its group would hold stderr, or work on, unseen.
    killGroup(pid, 'SIGKILL')
    setTimeout(tell, stderrWaitMs)
  })
  git.once('close', tell)
  report({ kind: 'started', id, pid })
}

function listen(git: ChildProcess, order: LaunchOrder): () => string {
  let tail = Buffer.alloc(0)
  let reportedAt = 0
  git.stderr?.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-stderrTailBytes)
    if (!order.progress || Date.now() - reportedAt < progressEveryMs) return
    reportedAt = Date.now()
    const line =
      tail
        .toString()
        .trimEnd()
        .split(/[\r\n]/)
        .at(-1) ?? ''
    report({ kind: 'progress', id: order.id, line: line.slice(0, 1_000) })
  })
  git.stderr?.on('error', () => undefined)
  return () => tail.toString()
}

function kill(id: number): void {
  const pid = running.get(id)
  if (pid === undefined) return
  killGroup(pid, 'SIGTERM')
  setTimeout(() => {
    if (running.get(id) === pid) killGroup(pid, 'SIGKILL')
  }, graceMs)
}

function end(): void {
  rmSync(directory, { recursive: true, force: true })
  for (const id of running.keys()) kill(id)
  setTimeout(() => process.exit(0), running.size === 0 ? 0 : graceMs + 200)
  const watch = setInterval(() => {
    if (running.size === 0) process.exit(0)
  }, 10)
  watch.unref()
}

// A terminal's or supervisor's signal reaches the whole tree at once; the main process decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', end)
process.on('message', (message) => {
  if (isKillOrder(message)) kill(message.id)
})

const address = join(directory, 's')
createServer(receive).listen(address, () => report({ kind: 'ready', socket: address }))
