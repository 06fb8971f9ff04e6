/** The folder of the package; this file is one level below it, compiled or not. */
export const PACKAGE_ROOT = new URL('../', import.meta.url)

/** The file of a module of the program that runs in a process of its own, named as below `src`, without an extension. */
export const programFile = (name: string): URL =>
  import.meta.url.endsWith('.ts')
    ? new URL(`src/${name}.ts`, PACKAGE_ROOT)
    : new URL(`dist/${name}.js`, PACKAGE_ROOT)
