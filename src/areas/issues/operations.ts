export {
  getGroupIssueStatistics,
  getIssueById,
  getIssueStatistics,
  getProjectIssueStatistics,
  listGroupIssues,
  listIssues,
  listProjectIssues,
} from './list_operations.ts'
export {
  listIssueParticipants,
  moveIssue,
  subscribeToIssue,
  unsubscribeFromIssue,
} from './people_operations.ts'
export {
  addIssueSpentTime,
  getIssueTimeStatistics,
  removeIssueSpentTime,
  removeIssueTimeEstimate,
  setIssueTimeEstimate,
} from './time_operations.ts'
export { createIssue, deleteIssue, getIssue, updateIssue } from './write_operations.ts'
