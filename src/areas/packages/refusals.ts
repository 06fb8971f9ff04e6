import { BlobTooLarge } from '../../blobs/digests.ts'
import { forbidden, refused, type Problem } from '../../http/problems.ts'
import { PackageProtected, StorageFull } from '../../packages/publish.ts'

/** `400 Bad request - …`, as registries say why. */
export const badRequest = (reason: string): Problem => refused(`400 Bad request - ${reason}`)
export const fileTooLarge = (): Problem => badRequest('File is too large')
export const packageProtected = (): Problem => forbidden('Package protected.')
const storageFull = ({ exceeded }: StorageFull): string =>
  `Namespace storage is full: ${exceeded.limit} is ${exceeded.mebibytes} MiB`

/** A registry's answers where publishing fails, in the words that its clients show. */
export interface Words {
  readonly tooLarge: () => Problem
  readonly isProtected: () => Problem
  readonly because: (reason: string) => Problem
}
const USUAL: Words = { tooLarge: fileTooLarge, isProtected: packageProtected, because: badRequest }

/** Turns the domain's refusals into answers. Use: `.catch(refuse())`. */
export const refuse =
  (words: Words = USUAL) =>
  (error: unknown): never => {
    if (error instanceof BlobTooLarge) throw words.tooLarge()
    if (error instanceof PackageProtected) throw words.isProtected()
    if (error instanceof StorageFull) throw words.because(storageFull(error))
    throw error
  }
