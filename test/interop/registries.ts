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

export const curl: Program<RegistryTarget> = {
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

/** Writes a wheel of one module without the tools that build one: `wheel.py VERSION`. */
const WHEEL = `
import sys, zipfile
version = sys.argv[1]
info = f'crane-{version}.dist-info'
with zipfile.ZipFile(f'crane-{version}-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('crane.py', f'version = "{version}"')
    wheel.writestr(f'{info}/METADATA', f'Metadata-Version: 2.1\\nName: crane\\nVersion: {version}\\nRequires-Python: >=3.8\\n')
    wheel.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(f'{info}/RECORD', '')
`

const twine: Program<RegistryTarget> = {
  name: 'twine and pip',
  version: () => {
    const [uploads, installs] = [versionOf('twine', '--version'), versionOf('pip', '--version')]
    return uploads && installs && `${uploads}, ${installs}`
  },
  tries: 'upload, install from project and group; refused by a rule, by a size, for a file that exists',
  run: async ({ api, project, group, token, protect, limit, write, run }) => {
    const folder = write({ 'wheel.py': WHEEL })
    const upload = async (version: string): Promise<{ readonly code: number; readonly output: string }> => {
      await run(folder, ['python3', 'wheel.py', version])
      const file = `crane-${version}-py3-none-any.whl`
      return run(folder, ['twine', 'upload', '--verbose', '--disable-progress-bar', file], {
        TWINE_REPOSITORY_URL: `${api}/projects/${project}/packages/pypi`,
        TWINE_USERNAME: '__token__',
        TWINE_PASSWORD: token,
        TERM: 'dumb',
        COLUMNS: '400',
      })
    }
    const fails = async (version: string, reason: RegExp): Promise<void> => {
      const { code, output } = await upload(version)
      assert.notEqual(code, 0)
      // It breaks lines to the width of its terminal.
      assert.match(output.replaceAll(/\s+/g, ' '), reason)
    }
    for (const version of ['1.0', '1.1']) {
      const { code, output } = await upload(version)
      assert.equal(code, 0, output)
    }
    for (const [place, wanted] of [
      [`projects/${project}`, '1.1'],
      [`groups/${group}/-`, '1.0'],
    ] as const) {
      const index = `${api.replace('://', `://__token__:${token}@`)}/${place}/packages/pypi/simple`
      const target = `from-${wanted}`
      const options = ['--no-deps', '--no-cache-dir', '--target', target, '--index-url', index]
      const installed = await run(folder, ['pip', 'install', ...options, `crane<=${wanted}`])
      assert.equal(installed.code, 0, installed.output)
      assert.equal(readFileSync(join(folder, target, 'crane.py'), 'utf8'), `version = "${wanted}"`)
    }
    await fails('1.0', /400.*already been taken/s)
    await limit('pypi_max_file_size', 10)
    await fails('2.0', /400.*File is too large/s)
    await limit('pypi_max_file_size', 0)
    await protect('pypi', 'Cra*')
    await fails('2.0', /403.*Package protected\./s)
  },
}

const maven: Program<RegistryTarget> = {
  name: 'Apache Maven',
  version: () => versionOf('mvn', '--version'),
  tries: 'deploy, resolve from project and group; refused by a rule and by a size',
  run: async ({ api, project, group, token, protect, limit, write, run }) => {
    const header = `<property><name>Private-Token</name><value>${token}</value></property>`
    const folder = write({
      'crane.jar': 'the bytes of a jar',
      'settings.xml': `<settings><servers><server><id>guildhall</id><configuration><httpHeaders>${header}</httpHeaders></configuration></server></servers></settings>`,
    })
    const mvn = (goal: string, home: string, given: Readonly<Record<string, string>>) =>
      run(folder, [
        'mvn',
        '--batch-mode',
        '--no-transfer-progress',
        '--settings',
        'settings.xml',
        goal,
        ...Object.entries({ 'maven.repo.local': join(folder, home), ...given }).map(
          ([name, value]) => `-D${name}=${value}`,
        ),
      ])
    const deploy = (version: string) =>
      mvn('org.apache.maven.plugins:maven-deploy-plugin:3.1.1:deploy-file', 'deployer', {
        file: 'crane.jar',
        groupId: 'com.example',
        artifactId: 'crane',
        version,
        packaging: 'jar',
        repositoryId: 'guildhall',
        url: `${api}/projects/${project}/packages/maven`,
      })
    const fails = async (version: string, reason: RegExp): Promise<void> => {
      const { code, output } = await deploy(version)
      assert.notEqual(code, 0)
      assert.match(output, reason)
    }
    for (const version of ['1.0', '1.1-SNAPSHOT', '1.1-SNAPSHOT']) {
      const { code, output } = await deploy(version)
      assert.equal(code, 0, output)
    }
    for (const [place, version] of [
      [`projects/${project}`, '1.0'],
      [`groups/${group}/-`, '1.1-SNAPSHOT'],
    ] as const) {
      const { code, output } = await mvn(
        'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get',
        'resolver',
        {
          remoteRepositories: `guildhall::default::${api}/${place}/packages/maven`,
          artifact: `com.example:crane:${version}`,
          transitive: 'false',
        },
      )
      assert.equal(code, 0, output)
      const jar = join(folder, 'resolver/com/example/crane', version, `crane-${version}.jar`)
      assert.equal(readFileSync(jar, 'utf8'), 'the bytes of a jar')
    }
    await limit('maven_max_file_size', 10)
    await fails('2.0', /status: 400|status code: 400|Bad Request/)
    await limit('maven_max_file_size', 0)
    await protect('maven', 'com/example/*')
    await fails('2.0', /403 Forbidden|status code: 403|status: 403/)
  },
}

/** Every program that publishes packages. Those that are where Node is are in `npm test` too. */
export const REGISTRY_PROGRAMS: readonly Program<RegistryTarget>[] = [curl, npm, twine, maven]
