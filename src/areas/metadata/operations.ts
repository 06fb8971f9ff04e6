import { Type as t } from 'typebox'
import { signedIn } from '../../access/gates/gates.ts'
import { operation } from '../../http/operation.ts'
import { INTERFACE_VERSION, REVISION } from '../../core/values/versions.ts'

const Version = t.Object({ version: t.String(), revision: t.String() })
/** The server for cluster agents, which clients look for here: there is none. */
const Agents = t.Object({
  enabled: t.Boolean(),
  externalUrl: t.Null(),
  externalK8sProxyUrl: t.Null(),
  version: t.Null(),
})
const Metadata = t.Object({ ...Version.properties, kas: Agents, enterprise: t.Boolean() })
const NO_AGENTS = { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null }

const scopes = ['read_user', 'ai_features'] as const

export const getVersion = operation({
  method: 'GET',
  path: '/version',
  summary: 'Get the version of the interface, and of this program as its revision',
  published: true,
  scopes,
  gates: [signedIn],
  handle: async () => ({ version: INTERFACE_VERSION, revision: REVISION }),
  returns: Version,
})

export const getMetadata = operation({
  method: 'GET',
  path: '/metadata',
  summary: 'Get the metadata of the instance',
  published: true,
  scopes,
  gates: [signedIn],
  handle: async ({ settings }) => ({
    version: INTERFACE_VERSION,
    revision: REVISION,
    kas: NO_AGENTS,
    enterprise: settings.get('tier') !== 'free',
  }),
  returns: Metadata,
})
