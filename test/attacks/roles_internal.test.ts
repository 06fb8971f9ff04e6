import { checkRoles } from '../calls/role_matrix.ts'

checkRoles('internal')
