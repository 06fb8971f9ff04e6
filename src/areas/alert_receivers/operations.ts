import { Type as t, type Static } from 'typebox'
import { includes, tierOfProject, type Tier } from '../../core/settings/plans.ts'
import { readGeneric } from '../../alerts/generic.ts'
import { takeAlerts } from '../../alerts/intake.ts'
import type { Receiving } from '../../alerts/integrations.ts'
import { readMetrics } from '../../alerts/prometheus.ts'
import type { Incoming } from '../../alerts/values.ts'
import { isBusy } from '../../db/errors.ts'
import type { Has } from '../../http/gate.ts'
import type { Inbound } from '../../http/inbound_limits.ts'
import { operation } from '../../http/operation.ts'
import { bodiless, type Problem } from '../../http/problems.ts'
import {
  firstHttp,
  firstPrometheus,
  keyHolder,
  metricsPayload,
  namedIntegration,
  notReceiving,
  payload,
  refusals,
  wrongKey,
  type Sent,
} from './gates.ts'

const AlertSummaries = t.Array(t.Object({ iid: t.Integer(), title: t.String() }))

/** Senders retry on 5xx alone. */
const busy = (): Problem => bodiless(503, { 'retry-after': '1' })
const unmatched = (): Problem => bodiless(400)

/** 1 MB, as published. Larger payloads are refused as malformed ones are. */
const inbound: Inbound = { limit: 1024 * 1024, atOnce: 64, tooLarge: () => bodiless(400), busy }

type Received = Has<Sent & { integration: Receiving }>

function itemsOf({ payload, text, metrics, integration, settings, now }: Received, tier: Tier): Incoming[] {
  if (metrics) return readMetrics(payload, now)
  const isLicensed = includes(tier, 'premium')
  return [
    readGeneric(payload, text, {
      mapping: isLicensed ? integration.mapping : null,
      fingerprinting: isLicensed && settings.enabled('generic_alert_fingerprinting'),
      now,
    }),
  ]
}

/** Incidents are opened with Ultimate; those that are open are closed with any licence. */
const licensed = (integration: Receiving, tier: Tier): Receiving => ({
  ...integration,
  create_incidents: integration.create_incidents && includes(tier, 'ultimate'),
})

/** As an integration that is not there. */
const unlicensed = ({ metrics }: Sent): Problem => (metrics ? wrongKey() : notReceiving())

async function receive(ctx: Received): Promise<Static<typeof AlertSummaries>> {
  const tier = await tierOfProject(ctx, ctx.integration.project_id)
  if (ctx.integration.is_further && !includes(tier, 'premium')) throw unlicensed(ctx)
  const taken = await takeAlerts(ctx.db, licensed(ctx.integration, tier), itemsOf(ctx, tier)).catch(
    (error: unknown) => {
      throw isBusy(error) ? busy() : error
    },
  )
  const alerts = taken.filter((one) => one !== undefined)
  if (alerts.length === 0 && !ctx.metrics) throw unmatched()
  return alerts.map(({ iid, title }) => ({ iid, title }))
}

const shared = {
  method: 'POST',
  published: true,
  inbound,
  handle: receive,
  returns: AlertSummaries,
  status: 200,
  refuses: [...refusals, busy],
} as const

export const createAlert = operation({
  ...shared,
  path: '{base_url}/:project_full_path/alerts/notify.json',
  summary: 'Receive an alert at the URL of the first HTTP integration of a project',
  gates: [payload, firstHttp, keyHolder],
})

export const createAlertAtEndpoint = operation({
  ...shared,
  path: '{base_url}/:project_full_path/alerts/notify/:name/:endpoint.json',
  summary: 'Receive an alert at the URL of an integration',
  params: t.Object({
    name: t.String({ description: 'The name of the integration, for people' }),
    endpoint: t.String({ description: 'The identifier of the integration' }),
  }),
  gates: [payload, namedIntegration, keyHolder],
})

export const createPrometheusAlerts = operation({
  ...shared,
  path: '{base_url}/:project_full_path/prometheus/alerts/notify.json',
  summary: 'Receive a notification at the URL of the first Prometheus integration of a project',
  gates: [metricsPayload, firstPrometheus, keyHolder],
})
