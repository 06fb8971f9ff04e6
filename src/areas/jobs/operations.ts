export * from './read_operations.ts'
export * from './action_operations.ts'
export * from './artifact_operations.ts'
