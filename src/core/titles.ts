const LONGEST = 255

/** Why a title, as it would be kept, will not do, in the published words. */
export const titleFaults = (title: string): string[] => [
  ...(title.trim() === '' ? ["can't be blank"] : []),
  ...(Array.from(title).length > LONGEST ? [`is too long (maximum is ${LONGEST} characters)`] : []),
]
