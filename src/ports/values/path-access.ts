/** What rules of permission keep from a call, path by path. */

/** What keeps a path from a call: a rule that denies it, a rule that asks where a call names it, or that it is Parley's own. */
export type PathRestriction = 'denied' | 'asked' | 'own'

/** Of a real path inside the root set that a call comes upon without having been decided on for it. */
export type PathAccessFilter = (path: string) => PathRestriction | undefined
