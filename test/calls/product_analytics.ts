import { openEngine, useEngine, type AnalyticsEngine } from '../support/analytics_engine.ts'
import type { Calls } from './calls.ts'

let engine: Promise<AnalyticsEngine> | undefined

const query = { measures: ['TrackedEvents.count'], limit: 5 }

/** Product analytics, with an engine on this machine. */
export const productAnalytics: Calls = {
  inPrivate: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  loadAnalytics              404 404 404 401 401 401 200 200 200 200 401
  checkAnalytics             404 404 404 401 401 401 200 200 200 200 401
  getAnalyticsMeta           404 404 404 401 401 401 200 200 200 200 401
  queryAnalyticsMeta         404 404 404 401 401 401 200 200 200 200 401
`,
  inPublic: `
                            none   0   5  10  15  20  30  40  50 adm nobody
  loadAnalytics              401 401 401 401 401 401 200 200 200 200 401
  checkAnalytics             401 401 401 401 401 401 200 200 200 200 401
  getAnalyticsMeta           401 401 401 401 401 401 200 200 200 200 401
  queryAnalyticsMeta         401 401 401 401 401 401 200 200 200 200 401
`,
  reads: ['loadAnalytics', 'checkAnalytics', 'queryAnalyticsMeta'],
  bodies: { loadAnalytics: { query }, checkAnalytics: { query } },
  set: async (world) => {
    await useEngine(world, await (engine ??= openEngine()))
    return {}
  },
}
