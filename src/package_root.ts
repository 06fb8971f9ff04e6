/** The folder of the package; this file is one level below it, compiled or not. */
export const PACKAGE_ROOT = new URL('../', import.meta.url)

/** The file of a module of the program that runs in a process of its own: as built, named as below `src`. */
export const builtModule = (name: string): URL => new URL(`dist/${name}.js`, PACKAGE_ROOT)
