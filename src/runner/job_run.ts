import { join } from 'node:path'
import { archiveCaches, restoreCaches } from './cache.ts'
import { downloadArtifacts, uploadArtifacts } from './artifacts.ts'
import { Refused, type Outcome } from './coordinator.ts'
import { JobFailure, stopped } from './failure.ts'
import { JobShell, type Parts } from './job_shell.ts'
import type { Step } from './payload.ts'
import { writePrivate } from './workplace.ts'

/** Milliseconds that `after_script` may run. */
const AFTER_SCRIPT_TIMEOUT = 5 * 60_000

/** One job from its sources to its artifacts. */
export class JobRun {
  readonly #parts: Parts
  readonly #shell: JobShell
  readonly #say: (line: string) => void

  constructor(parts: Parts) {
    this.#parts = parts
    this.#shell = new JobShell(parts)
    this.#say = (line) => parts.log.line(line)
  }

  async outcome(): Promise<Outcome> {
    const failure = await this.#failureOf()
    const { log } = this.#parts
    if (failure === undefined) {
      log.line('\u001B[32;1mJob succeeded')
      return { state: 'success' }
    }
    log.line(`\u001B[31;1mERROR: Job failed${failure.message === '' ? '' : `: ${failure.message}`}`)
    const { reason, exitCode } = failure
    return {
      state: 'failed',
      failure_reason: reason,
      ...(exitCode !== undefined && { exit_code: exitCode }),
    }
  }

  async #failureOf(): Promise<JobFailure | undefined> {
    try {
      await this.#prepare()
    } catch (error) {
      return this.#named(error)
    }
    let failure: JobFailure | undefined
    try {
      await this.#runScripts()
    } catch (error) {
      failure = this.#named(error)
    }
    return this.#afterwards(failure)
  }

  /** The failure that an error stands for: where the job was stopped, that is why. */
  #named(error: unknown): JobFailure {
    const { first } = this.#parts.stops
    if (first !== undefined) return stopped(first, this.#parts.job.runner_info.timeout)
    if (error instanceof JobFailure) return error
    return new JobFailure('runner_system_failure', error instanceof Error ? error.message : String(error))
  }

  async #prepare(): Promise<void> {
    const { job, around, place } = this.#parts
    this.#say(`Running with guildhall runner ${around.version}, executor shell, for job ${job.id}`)
    this.#warn()
    for (const { key, value, file } of job.variables)
      if (file === true)
        this.#shell.values.set(key, await writePrivate(join(place.temporary, fileName(key)), value))
    const hook = (job.hooks ?? []).find(({ name }) => name === 'pre_get_sources_script')
    if (hook !== undefined) await this.#shell.run('pre_get_sources_script', hook.script)
    const strategy = this.#shell.values.get('GIT_STRATEGY') ?? 'fetch'
    if (strategy === 'fetch' || strategy === 'clone')
      await this.#shell.section('get_sources', 'Getting source from Git repository', () =>
        this.#shell.sources(),
      )
    if ((job.cache ?? []).length > 0)
      await this.#shell.section('restore_cache', 'Restoring cache', () => restoreCaches(this.#exchange()))
    if ((job.dependencies ?? []).some(({ artifacts_file }) => artifacts_file !== undefined))
      await this.#shell.section('download_artifacts', 'Downloading artifacts', () =>
        downloadArtifacts(this.#exchange()),
      )
    this.#halt()
  }

  #warn(): void {
    const { image, services, secrets } = this.#parts.job
    if (image?.name !== undefined && image.name !== '')
      this.#say(`WARNING: the shell executor has no images: ${image.name} is not used`)
    if ((services ?? []).length > 0) this.#say('WARNING: the shell executor starts no services')
    if (Object.keys(secrets ?? {}).length > 0)
      throw new JobFailure('runner_unsupported', 'this runner reads no secrets from other servers')
  }

  #exchange(): Parameters<typeof restoreCaches>[0] & Parameters<typeof uploadArtifacts>[0] {
    const { around, job, place } = this.#parts
    return {
      coordinator: around.coordinator,
      directory: around.caches,
      job,
      values: this.#shell.values,
      project: place.project,
      temporary: place.temporary,
      untracked: () => this.#shell.untracked(),
      say: this.#say,
    }
  }

  async #runScripts(): Promise<void> {
    for (const step of this.#parts.job.steps) {
      if (step.name === 'after_script') continue
      await this.#runStep(step)
    }
  }

  async #runStep({ name, script, allow_failure }: Step): Promise<void> {
    const stage = name === 'script' ? 'step_script' : `step_${name}`
    try {
      await this.#shell.section(stage, `Executing "${stage}" stage of the job script`, () =>
        this.#shell.run(name, script ?? []),
      )
    } catch (error) {
      this.#halt()
      if (!allow_failure) throw error
    }
  }

  /** Throws where the job is stopped. */
  #halt(): void {
    const { stops, job } = this.#parts
    if (stops.first !== undefined) throw stopped(stops.first, job.runner_info.timeout)
  }

  /** Steps after the scripts, whether or not they succeeded. Returns the job's failure. */
  async #afterwards(failure: JobFailure | undefined): Promise<JobFailure | undefined> {
    const { stops, job } = this.#parts
    if (stops.all.aborted) return failure
    if (stops.first !== 'timeout') await this.#afterScript(failure)
    const isSuccess = failure === undefined
    try {
      if (stops.first === undefined && (job.cache ?? []).length > 0)
        await this.#shell.section('archive_cache', 'Saving cache', () =>
          archiveCaches(this.#exchange(), isSuccess),
        )
      const title = `Uploading artifacts for ${isSuccess ? 'successful' : 'failed'} job`
      if (
        (job.artifacts ?? []).some(({ when }) => when === 'always' || (when === 'on_failure') === !isSuccess)
      )
        await this.#shell.section(`upload_artifacts_on_${isSuccess ? 'success' : 'failure'}`, title, () =>
          uploadArtifacts(this.#exchange(), isSuccess),
        )
    } catch (error) {
      const reason = error instanceof Refused ? 'script_failure' : 'runner_system_failure'
      return failure ?? new JobFailure(reason, error instanceof Error ? error.message : String(error))
    }
    return failure ?? (stops.first && stopped(stops.first, job.runner_info.timeout))
  }

  async #afterScript(failure: JobFailure | undefined): Promise<void> {
    const { job, stops } = this.#parts
    const step = job.steps.find(({ name }) => name === 'after_script')
    if (step?.script === undefined || step.script === null || step.script.length === 0) return
    const status = stops.first === 'canceling' ? 'canceled' : failure === undefined ? 'success' : 'failed'
    this.#shell.values.set('CI_JOB_STATUS', status)
    const commands = step.script
    const signal = AbortSignal.any([stops.all, AbortSignal.timeout(AFTER_SCRIPT_TIMEOUT)])
    await this.#shell
      .section('after_script', 'Running after_script', () =>
        this.#shell.run('after_script', commands, signal),
      )
      .catch((error: unknown) => this.#say(`WARNING: after_script failed: ${String(error)}`))
  }
}

/** A name in the directory of file variables. */
const fileName = (key: string): string => key.replaceAll(/\W/g, '_')
