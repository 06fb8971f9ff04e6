import { spawnSync } from 'node:child_process'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'

// The git command line, timed from a process of its own that stays small: starting a process costs a large one more.

export interface Command {
  readonly path: string
  readonly commands: readonly (readonly string[])[]
  /** Instead: for how many milliseconds it stands idle, to learn by how much this machine delays a process anyway. */
  readonly idleMs?: number
}

process.on('message', (command: Command) => {
  void answer(command).then((times) => process.send?.(times))
})

async function answer({ path, commands, idleMs }: Command): Promise<number[]> {
  if (idleMs !== undefined) {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    await setTimeout(idleMs)
    return [delay.percentile(99.9) / 1e6]
  }
  return commands.map((args) => {
    const began = performance.now()
    const { status, stderr } = spawnSync('git', [`--git-dir=${path}`, ...args], { maxBuffer: 2 ** 28 })
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`)
    return performance.now() - began
  })
}
