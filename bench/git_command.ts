import { spawnSync } from 'node:child_process'

// The git command line, timed from a process of its own that stays small: starting a process costs a large one more.

export interface Command {
  readonly path: string
  readonly commands: readonly (readonly string[])[]
}

process.on('message', ({ path, commands }: Command) => {
  const times = commands.map((args) => {
    const began = performance.now()
    const { status, stderr } = spawnSync('git', [`--git-dir=${path}`, ...args], { maxBuffer: 2 ** 28 })
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`)
    return performance.now() - began
  })
  process.send?.(times)
})
