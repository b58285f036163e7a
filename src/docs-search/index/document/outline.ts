/** A document as far as search knows it: its text and its headings. */

export interface Heading {
  /** 1 is the highest. */
  readonly level: number
  readonly title: string
  /** UTF-16 offsets of its lines in the text. */
  readonly start: number
  readonly end: number
}

/** A document's text as it is searched and shown. It has as many line ends as its source, so that lines keep their number. */
export interface Outline {
  readonly text: string
  /** The title from the document's metadata, if it has one. */
  readonly title?: string
  readonly headings: readonly Heading[]
}
