import type { Instance } from '../instance.ts'
import type { Vault } from './secrets.ts'

/** A secret setting as it is kept; '' takes it away. */
export const sealSetting = (vault: Vault, text: string): string =>
  text === '' ? '' : vault.seal(text).toString('base64')

/** Identifies this instance to the analytics engine; '' while unset. */
export function analyticsApiKey({ settings, vault }: Pick<Instance, 'settings' | 'vault'>): string {
  const sealed = settings.get('analytics_api_key')
  return sealed === '' ? '' : vault.open(Buffer.from(sealed, 'base64'))
}
