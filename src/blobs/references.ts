/** A column that names a blob by its digest, by a foreign key to `blobs (sha256)`, with an index on it. */
export interface BlobReference {
  readonly table: string
  readonly column: string
}

/** All such columns. A table that is missing here keeps its blobs all the same, but stops the collection of garbage. */
export const BLOB_REFERENCES: readonly BlobReference[] = [
  { table: 'alert_metric_images', column: 'sha256' },
  { table: 'ci_job_artifacts', column: 'sha256' },
  { table: 'package_files', column: 'file_sha256' },
  { table: 'vulnerability_exports', column: 'blob' },
]
