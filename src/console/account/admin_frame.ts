import { noRoute } from '../../http/problems.ts'
import type { Ask, Page, Reply, Tab } from '../web/page.ts'

const TABS: readonly Tab[] = [
  { id: 'users', text: 'Users', href: '/admin' },
  { id: 'settings', text: 'Settings', href: '/admin/settings' },
  { id: 'limits', text: 'Plan limits', href: '/admin/limits' },
  { id: 'runners', text: 'Runners', href: '/admin/runners' },
]

/** A page of the administrators' area; to others there is none. The operations have their own gates besides. */
export const inAdmin =
  (tab: string, page: (ask: Ask) => Promise<Reply>): Page =>
  async (ask) => {
    if (ask.viewer?.actor.admin !== true) throw noRoute()
    const reply = await page(ask)
    return 'main' in reply
      ? { ...reply, crumbs: [{ text: 'Administration', href: '/admin' }], tabs: TABS, tab }
      : reply
  }
