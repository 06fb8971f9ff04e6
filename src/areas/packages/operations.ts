export * from './generic_operations.ts'
export {
  checkNpmAdvisories,
  checkNpmAudit,
  deleteNpmTag,
  getNpmPackage,
  getNpmPackageFile,
  listNpmTags,
  setNpmTag,
  updateNpmPackage,
} from './npm_operations.ts'
export * from './maven_operations.ts'
export * from './npm_reading.ts'
export * from './pipelines/operations.ts'
export * from './pypi_operations.ts'
export * from './rest_operations.ts'
