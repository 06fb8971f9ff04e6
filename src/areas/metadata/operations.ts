import { Type as t } from 'typebox'
import { signedIn } from '../../access/gates.ts'
import { operation } from '../../http/operation.ts'
import { INTERFACE_VERSION, REVISION } from './versions.ts'

const Version = t.Object({ version: t.String(), revision: t.String() })
const Metadata = t.Object({ ...Version.properties, enterprise: t.Boolean() })

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
  summary: 'Get what kind of instance this is',
  published: true,
  scopes,
  gates: [signedIn],
  handle: async ({ config }) => ({
    version: INTERFACE_VERSION,
    revision: REVISION,
    enterprise: config.tier !== 'free',
  }),
  returns: Metadata,
})
