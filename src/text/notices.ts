/** Sentences that one part writes and another recognizes. */

/** The notice of a document search that has nothing to search. */
export const NO_DOCUMENTS = 'There are no documents in the served directories.'
