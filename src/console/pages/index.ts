import type { Route } from '../web/page.ts'
import { adminRoutes } from '../account/admin.ts'
import { commitRoutes } from './commits.ts'
import { namespaceRoutes } from './namespaces.ts'
import { deliveryRoutes } from './delivery.ts'
import { epicRoutes } from './epics.ts'
import { issueRoutes } from './issues.ts'
import { iterationRoutes } from './iterations.ts'
import { mergeRequestRoutes } from './merge_requests.ts'
import { packageRoutes } from './packages.ts'
import { memberRoutes } from './people.ts'
import { pipelineRoutes } from './pipelines.ts'
import { planningRoutes } from './planning.ts'
import { profileRoutes } from '../account/profile.ts'
import { refRoutes } from './refs.ts'
import { signInRoutes } from '../account/sign_in.ts'
import { snippetRoutes } from './snippets.ts'
import { treeRoutes } from './tree.ts'
import { workRoutes } from './work.ts'

/** Every page, the more particular address first. */
export const routes: readonly Route[] = [
  ...signInRoutes,
  ...profileRoutes,
  ...adminRoutes,
  ...treeRoutes,
  ...commitRoutes,
  ...refRoutes,
  ...issueRoutes,
  ...mergeRequestRoutes,
  ...planningRoutes,
  ...epicRoutes,
  ...iterationRoutes,
  ...pipelineRoutes,
  ...deliveryRoutes,
  ...memberRoutes,
  ...snippetRoutes,
  ...packageRoutes,
  ...workRoutes,
  ...namespaceRoutes,
]
