// Plain JavaScript on purpose: one is started beside each test process, and to compile it would take longer than git.
// Runs git for `git_fixtures.ts`: a line of JSON asks, a line of JSON answers; ends with whoever asks.
import { spawnSync } from 'node:child_process'
import { createReadStream, openSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [requests, replies] = process.argv.slice(2)
const input = openSync(requests, 'r')
const output = openSync(replies, 'w')

for await (const line of createInterface({ input: createReadStream('', { fd: input }) })) {
  const { args, env, stdin } = JSON.parse(line)
  const { status, stdout, stderr, error } = spawnSync('git', args, {
    env,
    input: Buffer.from(stdin, 'base64'),
    maxBuffer: 2 ** 28,
  })
  const answer = {
    status: error === undefined ? status : null,
    stdout: stdout?.toString('base64') ?? '',
    stderr: error?.message ?? stderr.toString(),
  }
  writeFileSync(output, `${JSON.stringify(answer)}\n`)
}
