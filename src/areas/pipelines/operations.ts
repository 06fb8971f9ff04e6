export * from './action_operations.ts'
export * from './read_operations.ts'
export * from './report_operations.ts'
