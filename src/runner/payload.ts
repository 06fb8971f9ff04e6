// A job as the coordinator sends it: the fields that this runner reads.

export interface Variable {
  readonly key: string
  readonly value: string
  readonly masked?: boolean
  readonly file?: boolean
  readonly raw?: boolean
}
export interface Step {
  readonly name: string
  readonly script: readonly string[] | null
  readonly when: 'on_success' | 'on_failure' | 'always'
  readonly allow_failure: boolean
}
export type UploadWhen = 'on_success' | 'on_failure' | 'always'
export interface ArtifactSpec {
  readonly name: string | null
  readonly untracked: boolean
  readonly paths: readonly string[] | null
  readonly exclude: readonly string[] | null
  readonly when: UploadWhen | null
  readonly expire_in: string | null
  readonly artifact_type: string
  readonly artifact_format: 'zip' | 'gzip' | 'raw' | null
}
export interface CacheSpec {
  readonly key: string
  readonly paths: readonly string[] | null
  readonly untracked: boolean
  readonly policy: 'pull-push' | 'pull' | 'push' | ''
  readonly when: UploadWhen | ''
  readonly fallback_keys: readonly string[] | null
}
export interface Dependency {
  readonly id: number
  readonly token: string
  readonly name: string
  readonly artifacts_file?: { readonly filename: string; readonly size: number }
}
export interface JobPayload {
  readonly id: number
  readonly token: string
  readonly job_info: { readonly name: string; readonly stage: string; readonly project_id: number }
  readonly git_info: {
    readonly repo_url: string
    readonly ref: string
    readonly sha: string
    readonly refspecs: readonly string[]
    readonly depth: number
  }
  readonly runner_info: { readonly timeout: number }
  readonly variables: readonly Variable[]
  readonly steps: readonly Step[]
  readonly image: { readonly name?: string } | null
  readonly services: readonly unknown[] | null
  readonly artifacts: readonly ArtifactSpec[] | null
  readonly cache: readonly CacheSpec[] | null
  readonly dependencies: readonly Dependency[] | null
  readonly features: {
    readonly trace_sections?: boolean
    readonly token_mask_prefixes?: readonly string[] | null
  } | null
  readonly hooks?: readonly { readonly name: string; readonly script: readonly string[] }[] | null
  readonly secrets?: Readonly<Record<string, unknown>> | null
}
