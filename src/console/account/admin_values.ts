import { html, type Html } from '../web/html.ts'
import { get, post, withQuery, type Ask, type Redirect, type Route, type View } from '../web/page.ts'
import { form } from '../web/parts.ts'
import { absentOr } from '../pages/refs.ts'
import { inAdmin } from './admin_frame.ts'

type Values = Readonly<Record<string, string | number | boolean | null>>

const wordsOf = (name: string): string => {
  const text = name.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** One field for each value, by its type. */
const valueField = ([name, value]: [string, Values[string]]): Html =>
  typeof value === 'boolean'
    ? html`<label class="field"
        >${wordsOf(name)}<select name="${name}">
          <option value="true" ${value ? html` selected` : ''}>On</option>
          <option value="false" ${value ? '' : html` selected`}>Off</option>
        </select></label
      >`
    : html`<label class="field"
        >${wordsOf(name)}<input
          type="text"
          name="${name}"
          value="${value}"
          ${typeof value === 'number' ? html` inputmode="numeric"` : ''}
          autocomplete="off"
      /></label>`

const valueForm = (ask: Ask, action: string, values: Values, more: Html = html``): Html =>
  form(
    ask,
    action,
    html`<div class="body">
      <div class="cards fields">${Object.entries(values).map((entry) => valueField(entry))}</div>
      ${more}<button class="main">Save</button>
    </div>`,
    'box',
  )

/** The fields that differ from what stands: only they are sent. */
const changed = (sent: URLSearchParams, values: Values): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const given = sent.get(name)
      return given === null || given === String(value ?? '') ? [] : [[name, given]]
    }),
  )

async function settings(ask: Ask): Promise<View> {
  const values = await ask.call.one<Values>('getApplicationSettings')
  return {
    title: 'Settings',
    main: html`<div class="head"><h1>Settings</h1></div>
      ${valueForm(ask, '/admin/settings', values)}`,
  }
}

async function saveSettings({ call, form: sent }: Ask): Promise<Redirect> {
  const changes = changed(sent, await call.one<Values>('getApplicationSettings'))
  if (Object.keys(changes).length > 0) await call.one('updateApplicationSettings', changes)
  return { to: '/admin/settings' }
}

const PLANS = ['default', 'free', 'premium', 'ultimate'] as const
const planOf = (params: URLSearchParams): string =>
  PLANS.find((plan) => plan === params.get('plan_name')) ?? 'default'

async function limits(ask: Ask): Promise<View> {
  const plan = planOf(ask.query)
  const plans = await Promise.all(
    PLANS.map(async (each) => {
      const found: Values | undefined = await ask.call
        .one<Values>('getPlanLimits', { plan_name: each })
        .catch(absentOr)
      return found === undefined ? [] : [{ each, found }]
    }),
  )
  const known = plans.flat()
  const values = (known.find(({ each }) => each === plan) ?? known[0])?.found ?? {}
  return {
    title: 'Plan limits',
    main: html`<div class="head">
        <h1>Plan limits</h1>
        <nav class="switch right" aria-label="Plan">
          ${known.map(({ each }) => html`<a href="${withQuery(ask, { plan_name: each })}" ${each === plan ? html` aria-current="page"` : ''}>${each}</a>`)}
        </nav>
      </div>
      <p class="lead">0 stands for no limit.</p>
      <br />
      ${valueForm(ask, '/admin/limits', values, html`<input type="hidden" name="plan_name" value="${plan}" />`)}`,
  }
}

async function saveLimits({ call, form: sent }: Ask): Promise<Redirect> {
  const plan_name = planOf(sent)
  const changes = changed(sent, await call.one<Values>('getPlanLimits', { plan_name }))
  if (Object.keys(changes).length > 0) await call.one('updatePlanLimits', { plan_name, ...changes })
  return { to: `/admin/limits?plan_name=${plan_name}` }
}

export const valueRoutes: readonly Route[] = [
  get('/admin/settings', inAdmin('settings', settings)),
  post('/admin/settings', inAdmin('settings', saveSettings)),
  get('/admin/limits', inAdmin('limits', limits)),
  post('/admin/limits', inAdmin('limits', saveLimits)),
]
