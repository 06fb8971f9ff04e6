const BOUNDARY = 'a-part-of-a-form'
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`

interface FormFile {
  readonly name: string
  readonly file_name: string
  readonly content: string
}

/** A form with fields and one file, as `FORM_TYPE` has it. */
export function formOf(fields: Readonly<Record<string, string>>, file?: FormFile): string {
  const part = (disposition: string, content: string): string =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`
  const parts = Object.entries(fields).map(([name, value]) => part(`name="${name}"`, value))
  if (file) parts.push(part(`name="${file.name}"; filename="${file.file_name}"`, file.content))
  return `${parts.join('')}--${BOUNDARY}--\r\n`
}
