import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openReadyPlace } from '../support/program.ts'

const ROOT_TOKEN = 'a-token-of-the-interop-run'

interface Ran {
  readonly code: number
  /** Its standard output and standard error. */
  readonly output: string
}

/** A private project whose registries a program uses, and the ways in which it is refused there. */
export interface RegistryTarget {
  /** `http://127.0.0.1:1234/api/v4` */
  readonly api: string
  readonly project: number
  /** The path of the group that the project is in. */
  readonly group: string
  /** Of a Developer of the project. */
  readonly token: string
  readonly ownerToken: string
  /** Lets no Developer push packages of a type whose names match. */
  readonly protect: (type: string, pattern: string) => Promise<void>
  /** Sets a limit of the plan, in bytes. */
  readonly limit: (name: string, bytes: number) => Promise<void>
  /** Writes files below a folder of its own, by their paths; answers the folder's path. */
  readonly write: (files: Readonly<Record<string, string>>) => string
  /** Runs a program in a folder with nothing but `PATH` and `env` in its environment. */
  readonly run: (
    folder: string,
    command: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => Promise<Ran>
}

/** Runs `work` with a server of its own, which has `settings` in its environment. */
export async function withRegistry(
  work: (target: RegistryTarget) => Promise<void>,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: ROOT_TOKEN, LOG_LEVEL: 'warn', ...settings })
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-registry-'))
  let folders = 0
  try {
    const server = await place.serve()
    const call = async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
      const answer = await fetch(server.api + path, {
        method,
        headers: { 'private-token': ROOT_TOKEN, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
      return (await answer.json()) as Record<string, unknown>
    }
    const group = await call('POST', '/groups', { name: 'harbour', path: 'harbour' })
    const project = await call('POST', '/projects', { name: 'crane', namespace_id: group['id'] })
    const at = `/projects/${String(project['id'])}`
    const user = await call('POST', '/users', {
      username: 'dev',
      name: 'Dev',
      email: 'dev@example.com',
      password: 'correct horse battery',
      skip_confirmation: true,
    })
    await call('POST', `${at}/members`, { user_id: user['id'], access_level: 30 })
    const made = await call('POST', `/users/${String(user['id'])}/impersonation_tokens`, {
      name: 'packages',
      scopes: ['api'],
    })
    await work({
      api: server.api,
      project: Number(project['id']),
      group: 'harbour',
      token: String(made['token']),
      ownerToken: ROOT_TOKEN,
      protect: async (package_type, package_name_pattern) => {
        const rule = { package_type, package_name_pattern, minimum_access_level_for_push: 'maintainer' }
        await call('POST', `${at}/packages/protection/rules`, rule)
      },
      limit: async (name, bytes) => {
        await call('PUT', '/application/plan_limits', { plan_name: 'default', [name]: bytes })
      },
      write: (files) => {
        folders += 1
        const own = join(folder, String(folders))
        for (const [path, text] of Object.entries(files)) {
          mkdirSync(dirname(join(own, path)), { recursive: true })
          writeFileSync(join(own, path), text)
        }
        return own
      },
      run: async (cwd, [command = '', ...args], env = {}) => {
        const own = { PATH: process.env['PATH'] ?? '', HOME: folder, ...env }
        const child = spawn(command, args, { cwd, env: own, stdio: ['ignore', 'pipe', 'pipe'] })
        let output = ''
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding('utf8').on('data', (text: string) => (output += text))
        const [code] = (await once(child, 'close')) as [number]
        return { code, output }
      },
    })
    await server.stop()
  } finally {
    await place.clear()
    rmSync(folder, { recursive: true, force: true })
  }
}
