export * from './group_operations.ts'
export * from './instance_operations.ts'
export * from './project_operations.ts'
