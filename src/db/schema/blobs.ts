import type { Time } from './columns.ts'

export interface BlobTable {
  location: string
  sha256: string | null
  sha1: string | null
  md5: string | null
  size: number | null
  used_at: Time
}
