const LONGEST = 255

/** Whether a pattern keeps to what takes time in proportion to what it reads: nothing that looks around or back. */
export const isPattern = (text: string): boolean =>
  text.length <= LONGEST && !/\\[1-9]|\(\?[=!<]|^\*{3}/.test(text)
