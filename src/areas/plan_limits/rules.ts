/** Faults of the given limits: none may be negative. */
export const limitFaults = (given: Readonly<Partial<Record<string, number>>>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value !== undefined && value < 0 ? [[name, ['must be greater than or equal to 0']]] : [],
    ),
  )
