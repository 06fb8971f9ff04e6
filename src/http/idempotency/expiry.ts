import type { Instance } from '../../instance.ts'
import { removeExpired } from './store.ts'

/** The hourly job that removes keys after 24 hours. */
export const expireIdempotencyKeys = {
  name: 'expire_idempotency_keys',
  hourly: true,
  run: async ({ db }: Pick<Instance, 'db'>): Promise<void> => void (await db.run(removeExpired, {})),
} as const
