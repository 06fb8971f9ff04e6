/** Keywords that the runner receives word for word: forms are normalised (lists are lists), variables stay unexpanded. */
export interface JobOptions {
  readonly script?: readonly string[]
  readonly before_script?: readonly string[]
  readonly after_script?: readonly string[]
  readonly image?: ImageOption
  readonly services?: readonly ImageOption[]
  readonly artifacts?: ArtifactsOption
  readonly cache?: readonly CacheOption[]
  readonly hooks?: { readonly pre_get_sources_script: readonly string[] }
  readonly release?: Readonly<Record<string, unknown>>
  readonly id_tokens?: Readonly<Record<string, { readonly aud: string | readonly string[] }>>
  readonly secrets?: Readonly<Record<string, unknown>>
  readonly identity?: string
  /** The folder of the archive that a pages job publishes. */
  readonly publish?: string
}
export interface ImageOption {
  readonly name: string
  readonly [key: string]: unknown
}
export interface ArtifactsOption {
  readonly name?: string
  readonly paths?: readonly string[]
  readonly exclude?: readonly string[]
  readonly untracked?: boolean
  readonly when?: 'on_success' | 'on_failure' | 'always'
  /** A duration as written, or `never`. */
  readonly expire_in?: string
  readonly expose_as?: string
  readonly access?: 'none' | 'developer' | 'maintainer' | 'all'
  readonly public?: boolean
  /** Kind of report to paths. `coverage_report` keeps its own form. */
  readonly reports?: Readonly<Record<string, unknown>>
}
export interface CacheOption {
  readonly key?: string | { readonly files: readonly string[]; readonly prefix?: string }
  readonly paths?: readonly string[]
  readonly untracked?: boolean
  readonly policy?: string
  readonly when?: 'on_success' | 'on_failure' | 'always'
  readonly unprotect?: boolean
  readonly fallback_keys?: readonly string[]
}
