/** Ends the reading of a configuration; the messages are for its author, word for word the published ones. */
export class ConfigFault extends Error {
  readonly texts: readonly string[]
  constructor(...texts: readonly string[]) {
    super(texts.join(', '))
    this.texts = texts
  }
}

/** A text that is no configuration; the message is for its author. */
export class YamlFault extends Error {}

/** Values are larger or deeper than the limits, aliases counted as often as they stand. */
export class TooBig extends Error {}
