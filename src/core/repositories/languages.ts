import { LRUCache } from 'lru-cache'
import type { Repository } from '../../git/repository.ts'

// In what languages a repository is written: by the bytes of its files, as their names tell.

const EXTENSIONS: Readonly<Record<string, string>> = {
  Assembly: 'asm nasm s',
  Astro: 'astro',
  Batchfile: 'bat cmd',
  C: 'c h',
  'C#': 'cs csx',
  'C++': 'cc cpp cxx c++ hh hpp hxx ino ipp tpp',
  Clojure: 'clj cljc cljs edn',
  CMake: 'cmake',
  CoffeeScript: 'coffee',
  Crystal: 'cr',
  CSS: 'css',
  Cuda: 'cu cuh',
  D: 'd',
  Dart: 'dart',
  Elixir: 'ex exs',
  Elm: 'elm',
  Erlang: 'erl hrl',
  'F#': 'fs fsi fsx',
  Fortran: 'f90 f95 f03 f08 for',
  Gherkin: 'feature',
  GLSL: 'glsl frag vert',
  Go: 'go',
  Groovy: 'groovy gradle gvy',
  Haml: 'haml',
  Handlebars: 'handlebars hbs',
  Haskell: 'hs lhs',
  HCL: 'hcl tf tfvars',
  HTML: 'html htm xhtml',
  Java: 'java',
  JavaScript: 'js cjs mjs jsx es6',
  Jinja: 'j2 jinja jinja2',
  Julia: 'jl',
  'Jupyter Notebook': 'ipynb',
  Kotlin: 'kt kts',
  Less: 'less',
  Liquid: 'liquid',
  Lua: 'lua',
  Makefile: 'mk mak',
  MATLAB: 'matlab',
  Nix: 'nix',
  'Objective-C': 'm',
  'Objective-C++': 'mm',
  OCaml: 'ml mli',
  Pascal: 'pas dpr',
  Perl: 'pl pm t',
  PHP: 'php phtml',
  PLpgSQL: 'pgsql',
  PowerShell: 'ps1 psd1 psm1',
  Prolog: 'pro prolog',
  Pug: 'pug jade',
  Python: 'py pyi pyw',
  QML: 'qml',
  R: 'r',
  Ruby: 'rb rake gemspec ru erb',
  Rust: 'rs',
  Sass: 'sass',
  Scala: 'scala sbt sc',
  Scheme: 'scm ss',
  SCSS: 'scss',
  Shell: 'sh bash zsh ksh',
  Slim: 'slim',
  Solidity: 'sol',
  Starlark: 'bzl star',
  Stylus: 'styl',
  Svelte: 'svelte',
  Swift: 'swift',
  SystemVerilog: 'sv svh',
  Tcl: 'tcl',
  TeX: 'tex sty cls',
  Twig: 'twig',
  TypeScript: 'ts cts mts tsx',
  Vala: 'vala',
  Verilog: 'v',
  VHDL: 'vhd vhdl',
  'Vim Script': 'vim',
  'Visual Basic .NET': 'vb',
  Vue: 'vue',
  WebAssembly: 'wat wast',
  XSLT: 'xsl xslt',
  Zig: 'zig',
}
const NAMES: Readonly<Record<string, string>> = {
  'cmakelists.txt': 'CMake',
  containerfile: 'Dockerfile',
  dockerfile: 'Dockerfile',
  gemfile: 'Ruby',
  gnumakefile: 'Makefile',
  jenkinsfile: 'Groovy',
  makefile: 'Makefile',
  podfile: 'Ruby',
  rakefile: 'Ruby',
  vagrantfile: 'Ruby',
}
const BY_EXTENSION = new Map(
  Object.entries(EXTENSIONS).flatMap(([language, all]) =>
    all.split(' ').map((extension) => [extension, language] as const),
  ),
)
const BY_NAME = new Map(Object.entries(NAMES))

/** Vendored and generated files. */
const FOREIGN = /(?:^|\/)(?:bower_components|node_modules|third_party|vendor|dist)\/|\.min\.(?:js|css)$/i

/** The language of a file; undefined for prose, configuration, pictures and what others wrote. */
function languageOf(path: string): string | undefined {
  if (FOREIGN.test(path)) return undefined
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const dot = name.lastIndexOf('.')
  return BY_NAME.get(name) ?? (dot < 0 ? undefined : BY_EXTENSION.get(name.slice(dot + 1)))
}

/** Percentages, the largest first. */
export type Languages = Readonly<Record<string, number>>
const MAX_LANGUAGES = 5

async function count(repository: Repository, commit: string): Promise<Languages> {
  const bytes = new Map<string, number>()
  for await (const { path, size } of repository.fileSizes(commit)) {
    const language = languageOf(path)
    if (language !== undefined && size > 0) bytes.set(language, (bytes.get(language) ?? 0) + size)
  }
  const total = [...bytes.values()].reduce((sum, each) => sum + each, 0)
  return Object.fromEntries(
    [...bytes]
      .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .slice(0, MAX_LANGUAGES)
      .map(([language, each]) => [language, Math.round((each * 10_000) / total) / 100]),
  )
}

/** By the hash of a commit, which says all there is of it; who asks together waits for one count. */
const counted = new LRUCache<string, Promise<Languages>>({ max: 2_000 })

/** The languages of a commit, five at most. Throws GitError when git fails. */
export function languagesOf(repository: Repository, commit: string): Promise<Languages> {
  const known = counted.get(commit)
  if (known !== undefined) return known
  const counting = count(repository, commit)
  counted.set(commit, counting)
  counting.catch(() => counted.delete(commit))
  return counting
}
