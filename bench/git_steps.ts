import { spawnSync } from 'node:child_process'

// Runs git commands one after the other, timed from a process of its own that stays small: starting a process costs a
// large one more.

export interface Step {
  readonly args: readonly string[]
  readonly input?: string
}

export interface Order {
  readonly path: string
  readonly steps: readonly Step[]
}

process.on('message', ({ path, steps }: Order) => {
  const began = performance.now()
  const outputs = steps.map(({ args, input = '' }) => {
    const env = {
      ...process.env,
      GIT_COMMITTER_DATE: '1700000000 +0000',
      GIT_AUTHOR_DATE: '1700000000 +0000',
    }
    const { status, stdout, stderr } = spawnSync('git', [`--git-dir=${path}`, ...args], { input, env })
    // 1 is the status of a merge with conflicts.
    if (status !== 0 && status !== 1) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`)
    return stdout.toString().trim()
  })
  process.send?.({ took: performance.now() - began, outputs })
})
