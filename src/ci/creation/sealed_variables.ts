import type { Instance } from '../../instance.ts'
import type { Variable } from '../config/plan.ts'

type Vault = Pick<Instance['vault'], 'open' | 'seal'>

/** Variables of whoever started a pipeline or played a job, as they are kept: they may be secrets. Null for none. */
export const sealVariables = (vault: Vault, variables: readonly Variable[]): Buffer | null =>
  variables.length === 0 ? null : vault.seal(JSON.stringify(variables))

export const openVariables = (vault: Vault, sealed: Buffer | null): readonly Variable[] =>
  sealed === null ? [] : (JSON.parse(vault.open(sealed)) as Variable[])
