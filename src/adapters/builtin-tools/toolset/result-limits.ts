/** How long the result of a builtin tool may be. */

/** Characters of one result that a model is given. */
export const MAX_MODEL_CHARS = 30_000
/** Characters of one result that are kept. */
export const MAX_KEPT_CHARS = 1024 * 1024
