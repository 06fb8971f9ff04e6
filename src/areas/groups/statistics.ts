import { Type as t, type Static } from 'typebox'

const size = t.Integer({ description: 'bytes' })

/** Storage of the own projects of a group. */
export const Statistics = t.Object({
  storage_size: size,
  repository_size: size,
  wiki_size: size,
  lfs_objects_size: size,
  job_artifacts_size: size,
  pipeline_artifacts_size: size,
  packages_size: size,
  snippets_size: size,
  uploads_size: size,
})

/** Storage of a top-level group with all descendants. */
export const RootStatistics = t.Object({
  build_artifacts_size: size,
  container_registry_size: size,
  container_registry_size_is_estimated: t.Boolean(),
  dependency_proxy_size: size,
  lfs_objects_size: size,
  packages_size: size,
  pipeline_artifacts_size: size,
  repository_size: size,
  snippets_size: size,
  storage_size: size,
  uploads_size: size,
  wiki_size: size,
})

// Only repositories take space so far; the rest of the published sizes are true zeros.
export const statistics = (repository: number): Static<typeof Statistics> => ({
  storage_size: repository,
  repository_size: repository,
  wiki_size: 0,
  lfs_objects_size: 0,
  job_artifacts_size: 0,
  pipeline_artifacts_size: 0,
  packages_size: 0,
  snippets_size: 0,
  uploads_size: 0,
})
export const rootStatistics = (repository: number): Static<typeof RootStatistics> => ({
  build_artifacts_size: 0,
  container_registry_size: 0,
  container_registry_size_is_estimated: false,
  dependency_proxy_size: 0,
  lfs_objects_size: 0,
  packages_size: 0,
  pipeline_artifacts_size: 0,
  repository_size: repository,
  snippets_size: 0,
  storage_size: repository,
  uploads_size: 0,
  wiki_size: 0,
})
