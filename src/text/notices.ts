/** Sentences that one room writes and another recognizes. */

/** The document search says this when there is nothing to search; the guide agent looks for it. */
export const NO_DOCUMENTS = 'There are no documents in the served directories.'
