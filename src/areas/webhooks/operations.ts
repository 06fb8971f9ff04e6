export * from './group_operations.ts'
export * from './project_operations.ts'
export * from './system_operations.ts'
