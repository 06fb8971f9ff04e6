/* The programs that publish packages and install them, unmodified, as their users run them. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Program } from './programs.ts'
import type { RegistryTarget } from './registry_target.ts'

/** The first version that a program tells of itself; undefined where it is not installed. */
function versionOf(command: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' })
  return status === 0 ? /\d+(?:\.\d+)+/.exec(stdout)?.[0] : undefined
}

const curl: Program<RegistryTarget> = {
  name: 'curl',
  version: () => versionOf('curl', '--version'),
  tries: 'generic: upload, download, a part; refused by a rule and by a size',
  run: async ({ api, project, token, protect, limit, write, run }) => {
    const text = 'noise '.repeat(500)
    const folder = write({ 'tool.bin': text })
    const at = `${api}/projects/${project}/packages/generic/tool/1.0`
    const ask = (...args: readonly string[]) =>
      run(folder, ['curl', '--silent', '--show-error', '--header', `PRIVATE-TOKEN: ${token}`, ...args])
    assert.equal(
      (await ask('--upload-file', 'tool.bin', `${at}/tool.bin`)).output,
      '{"message":"201 Created"}',
    )
    assert.equal((await ask(`${at}/tool.bin`)).output, text)
    assert.equal((await ask('--range', '6-10', `${at}/tool.bin`)).output, 'noise')
    await limit('generic_packages_max_file_size', 1_000)
    assert.match((await ask('--upload-file', 'tool.bin', `${at}/large.bin`)).output, /File is too large/)
    await limit('generic_packages_max_file_size', 0)
    await protect('generic', 'tool')
    assert.match((await ask('--upload-file', 'tool.bin', `${at}/late.bin`)).output, /Package protected\./)
  },
}

const npm: Program<RegistryTarget> = {
  name: 'npm',
  version: () => versionOf('npm', '--version'),
  tries:
    'publish, install, dist-tag, deprecate, audit; refused by a rule, by a size, for a version that exists',
  run: async ({ api, project, group, token, ownerToken, protect, limit, write, run }) => {
    const registry = `${api}/projects/${project}/packages/npm/`
    const rc = (key: string, scope = registry): string =>
      [
        `registry=${registry}`,
        `@${group}:registry=${scope}`,
        'update-notifier=false',
        ...[registry, `${api}/packages/npm/`].map((url) => `${url.replace(/^http:/, '')}:_authToken=${key}`),
      ].join('\n')
    const name = `@${group}/crane`
    const packed = (version: string): string =>
      write({
        '.npmrc': rc(token),
        'index.js': `module.exports = '${version}'`,
        'package.json': JSON.stringify({ name, version }),
      })
    const folder = packed('1.0.0')
    const succeeds = async (cwd: string, ...args: readonly string[]): Promise<string> => {
      const { code, output } = await run(cwd, ['npm', ...args])
      assert.equal(code, 0, output)
      return output
    }
    const fails = async (cwd: string, reason: RegExp): Promise<void> => {
      const { code, output } = await run(cwd, ['npm', 'publish'])
      assert.notEqual(code, 0)
      assert.match(output, reason)
    }
    await succeeds(folder, 'publish')
    await succeeds(packed('1.1.0'), 'publish', '--tag', 'next')
    const home = write({ '.npmrc': rc(token, `${api}/packages/npm/`), 'package.json': '{}' })
    await succeeds(home, 'install', `${name}@next`)
    const installed = readFileSync(join(home, 'node_modules', name, 'index.js'), 'utf8')
    assert.equal(installed, "module.exports = '1.1.0'")
    const lock = JSON.parse(readFileSync(join(home, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly integrity?: string }>>
    }
    assert.match(lock.packages[`node_modules/${name}`]?.integrity ?? '', /^sha512-/)
    assert.match(await succeeds(home, 'audit', '--registry', registry), /found 0 vulnerabilities/)
    await succeeds(folder, 'dist-tag', 'add', `${name}@1.1.0`, 'stable')
    assert.match(await succeeds(folder, 'dist-tag', 'ls', name), /^stable: 1\.1\.0$/m)
    const owned = write({ '.npmrc': rc(ownerToken) })
    await succeeds(owned, 'deprecate', `${name}@1.0.0`, 'use 1.1')
    assert.match(await succeeds(home, 'view', `${name}@1.0.0`, 'deprecated'), /use 1\.1/)
    await fails(packed('1.1.0'), /403.*Package already exists\.|previously published/s)
    await limit('npm_max_file_size', 10)
    await fails(packed('2.0.0'), /400.*File is too large\./s)
    await limit('npm_max_file_size', 0)
    await protect('npm', `@${group}/*`)
    await fails(packed('2.0.0'), /403.*Package protected\./s)
  },
}

/** Every program that publishes packages. Those that are where Node is are in `npm test` too. */
export const REGISTRY_PROGRAMS: readonly Program<RegistryTarget>[] = [curl, npm]
