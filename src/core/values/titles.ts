import { lengthFaults } from './lengths.ts'

const MAX_TITLE_CHARACTERS = 255

/** Why a title, as it would be kept, will not do, in the published words. */
export const titleFaults = (title: string): string[] => [
  ...(title.trim() === '' ? ["can't be blank"] : []),
  ...lengthFaults(title, MAX_TITLE_CHARACTERS),
]
