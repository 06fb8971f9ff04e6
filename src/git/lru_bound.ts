/** The options of a cache of so many entries that takes room as they come: with `max` it takes all of it when it is made. */
export const lruBound = (entries: number): { maxSize: number; sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
})
