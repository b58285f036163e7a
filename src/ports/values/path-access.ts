/** The paths that permission rules keep from a call. */

/** Why a call may not use a path: a rule denies it, a rule asks when a call names it, or it is Parley's own. */
export type PathRestriction = 'denied' | 'asked' | 'own'

/** Of a real path inside the root set that a call comes upon without having been decided on for it. */
export type PathAccessFilter = (path: string) => PathRestriction | undefined
