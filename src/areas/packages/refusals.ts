import { BlobTooLarge } from '../../blobs/digests.ts'
import { Problem, forbidden, refused } from '../../http/problems.ts'
import {
  FILE_LIMITS,
  PackageProtected,
  StorageFull,
  type AddedFile,
  type RegistryType,
} from '../../packages/publish.ts'

/** `400 Bad request - …`, as registries say why. */
export const badRequest = (reason: string): Problem => refused(`400 Bad request - ${reason}`)
/** The published text names no limit: a header does, `limit` being the bytes that a file may have. */
export const namingLimit = (type: RegistryType, limit: number): Record<string, string> => ({
  'x-plan-limit': `${FILE_LIMITS[type]}=${limit + 1}`,
})
export const fileTooLarge = (type: RegistryType = 'generic', limit = 0): Problem =>
  new Problem(400, { message: '400 Bad request - File is too large' }, namingLimit(type, limit))
export const packageProtected = (): Problem => forbidden('Package protected.')
const storageFull = ({ met }: StorageFull): string =>
  `Namespace storage is full: ${met.limit} is ${met.mebibytes} MiB`

/** Tells publishers that the storage of the root namespace grows full; npm prints what stands under `npm-notice`. */
export function storageNotice({ met }: AddedFile): Record<string, string> {
  if (met === undefined) return {}
  const text = `Namespace storage is almost full: ${met.limit} is ${met.mebibytes} MiB`
  return { warning: `299 - "${text}"`, 'npm-notice': text }
}

/** A registry's answers where publishing fails, in the words that its clients show. */
export interface Words {
  readonly tooLarge: (limit: number) => Problem
  readonly isProtected: () => Problem
  readonly because: (reason: string) => Problem
}
/** The words of all registries but npm's. */
export const wordsOf = (type: RegistryType): Words => ({
  tooLarge: (limit) => fileTooLarge(type, limit),
  isProtected: packageProtected,
  because: badRequest,
})

/** Turns the domain's refusals into answers. Use: `.catch(refuse(words))`. */
export const refuse =
  (words: Words) =>
  (error: unknown): never => {
    if (error instanceof BlobTooLarge) throw words.tooLarge(error.limit)
    if (error instanceof PackageProtected) throw words.isProtected()
    if (error instanceof StorageFull) throw words.because(storageFull(error))
    throw error
  }
