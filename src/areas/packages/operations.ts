export * from './generic_operations.ts'
export * from './rest_operations.ts'
