import { build, type Plugin } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Modules go on knowing where their source lies, because that is where they find what lies beside it. */
const inPlace: Plugin = {
  name: 'in place',
  setup(compiler) {
    compiler.onLoad({ filter: /\.ts$/, namespace: 'file' }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8'))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path))),
      loader: 'ts',
    }))
  },
}

/**
 * Compiles modules, named as below the present directory, into `folder` under the same names with `.js`. What several
 * of them import they still share.
 */
export async function bundle(modules: readonly string[], folder: string): Promise<void> {
  await build({
    entryPoints: modules.map((name) => relative('.', name)),
    outdir: folder,
    outbase: '.',
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: true,
    // The sources lie where they are named; to read them again in every process takes time.
    sourcesContent: false,
    logLevel: 'error',
    plugins: [inPlace],
  })
}
