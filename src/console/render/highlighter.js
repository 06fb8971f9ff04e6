// Plain JavaScript: the package's types would bring those of browsers into every file of the server.
import hljs from 'highlight.js/lib/common'

export const knows = (language) => hljs.getLanguage(language) !== undefined
export const colour = (text, language) => hljs.highlight(text, { language, ignoreIllegals: true }).value
