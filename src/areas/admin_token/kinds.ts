import type { Static } from 'typebox'
import { DEPLOY_TOKEN_PREFIX } from '../../access/presented_tokens.ts'
import { digestOf } from '../../access/tokens.ts'
import { findJobByToken, findRunnerByDigest } from '../../ci/runners/runners.ts'
import * as accessTokens from '../../core/people/access_tokens.ts'
import * as deployTokens from '../../core/people/deploy_tokens.ts'
import type { AuditEvent } from '../../core/settings/audit.ts'
import { DEFAULT_SETTINGS, type Settings } from '../../core/settings/settings.ts'
import type { Db } from '../../db/db.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { presentDeployToken } from '../../records/people/deploy_token.ts'
import { presentRunner } from '../../records/pipelines/runner.ts'
import { presentTriggerToken } from '../../records/pipelines/trigger_token.ts'
import { presentJobOfToken, presentToken, type TokenAnswer } from './entity.ts'
import * as tokens from './store.ts'

/** A token that was found by its text. */
export interface Found {
  /** The record that introspection answers. */
  readonly record: Static<typeof TokenAnswer>
  readonly target: AuditEvent['target']
  /** The record in whose audit log the act appears; undefined for the administrator's own. */
  readonly entity: AuditEvent['entity'] | undefined
  /** Ends the token, or replaces it by one that nobody knows. Absent where the kind cannot be revoked here. */
  readonly revoke?: (db: Db) => Promise<void>
}

type Around = Pick<Context, 'db' | 'vault' | 'config' | 'now'> & { readonly actor: Actor }

/** One kind of token. The prefix alone decides which kind a text is of. */
export interface TokenKind {
  readonly prefixes: (settings: Settings) => readonly string[]
  readonly find: (around: Around, token: string) => Promise<Found | undefined>
}

/** Personal, project, group and impersonation tokens; the last three belong to bots or to other users. */
const accessToken: TokenKind = {
  prefixes: (settings) => [
    settings.get('personal_access_token_prefix'),
    DEFAULT_SETTINGS.personal_access_token_prefix,
  ],
  find: async ({ db }, text) => {
    const token = await accessTokens.findByDigest(db, digestOf(text))
    return (
      token && {
        record: presentToken(token),
        target: { type: 'PersonalAccessToken', id: token.id, details: token.name },
        entity: { type: 'User', id: token.user_id },
        revoke: async (tx) => void (await accessTokens.revoke(tx, token.id)),
      }
    )
  },
}

/** Tokens that start pipelines. As published, they are not revoked here. */
const triggerToken: TokenKind = {
  prefixes: () => ['glptt-'],
  find: async (around, text) => {
    const token = await tokens.findTriggerToken(around.db, digestOf(text))
    return (
      token && {
        record: presentTriggerToken(token, around),
        target: { type: 'Ci::Trigger', id: token.id, details: token.description },
        entity: { type: 'Project', id: token.project_id },
      }
    )
  },
}

/** Tokens of runners, which are reset: the runner takes no more jobs until it gets another one. */
const runnerToken: TokenKind = {
  prefixes: () => ['glrt-', 'glrtr-'],
  find: async ({ db, now }, text) => {
    const runner = await findRunnerByDigest(db, digestOf(text))
    return (
      runner && {
        record: presentRunner(runner, now),
        target: { type: 'Ci::Runner', id: runner.id, details: runner.description ?? '' },
        entity: await tokens.placeOfRunner(db, runner),
        revoke: async (tx) => void (await tokens.resetRunnerToken(tx, runner.id)),
      }
    )
  },
}

/** Tokens of jobs, which end with their job. As published, they are not revoked here. */
const jobToken: TokenKind = {
  prefixes: () => ['glcbt-'],
  find: async ({ db, config }, text) => {
    const job = await findJobByToken(db, digestOf(text))
    const project = job && (await tokens.findProjectPath(db, job.project_id))
    return (
      project && {
        record: presentJobOfToken(job, { config, project }),
        target: { type: 'Ci::Build', id: job.id, details: job.name },
        entity: { type: 'Project', id: job.project_id },
      }
    )
  },
}

/** Deploy tokens of projects and groups. */
const deployToken: TokenKind = {
  prefixes: () => [DEPLOY_TOKEN_PREFIX],
  find: async ({ db, now }, text) => {
    const token = await deployTokens.findByDigest(db, digestOf(text))
    return (
      token && {
        record: presentDeployToken(token, { now }),
        target: { type: 'DeployToken', id: token.id, details: token.name },
        entity:
          token.project_id === null
            ? { type: 'Group', id: token.namespace_id ?? 0 }
            : { type: 'Project', id: token.project_id },
        revoke: async (tx) => void (await deployTokens.revoke(tx, token.id)),
      }
    )
  },
}

/** Published kinds of which this service has none: whatever bears their prefix is not found. */
const notIssued: TokenKind = {
  prefixes: () => ['glft-', 'gloas-', 'glagent-', 'glffct-', 'glimt-'],
  find: async () => undefined,
}

/** Every kind that the published interface can look up. */
const KINDS: readonly TokenKind[] = [accessToken, triggerToken, runnerToken, jobToken, deployToken, notIssued]

/** The kind with the longest prefix that a text begins with; undefined when no kind has one. */
export function kindOf(token: string, settings: Settings): TokenKind | undefined {
  const fits = KINDS.flatMap((kind) =>
    kind
      .prefixes(settings)
      .filter((prefix) => token.startsWith(prefix))
      .map((prefix) => ({ kind, length: prefix.length })),
  )
  return fits.sort((a, b) => b.length - a.length)[0]?.kind
}
