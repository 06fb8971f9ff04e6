// Titles that say of a merge request that it is not ready. The column `draft` of the database reads them alike.

const MARKS = /^(?:\s*(?:\[draft\]|\(draft\)|draft:|draft\s-\s))+\s*/i

export const isDraft = (title: string): boolean => MARKS.test(title)
export const asDraft = (title: string): string => (isDraft(title) ? title : `Draft: ${title}`)
export const asReady = (title: string): string => title.replace(MARKS, '')
