/** Seeds that once failed, and what each of them found; every run of the tests plays them again. */

/** Of the scenarios when they failed: a later one makes something else of the same seed. */
export const KNOWN_EDITION = 1

export const knownSeeds = [
  { seed: 305, found: 'a resume that could not be read on was answered twice, and its view never went live' },
  { seed: 315, found: 'a slow client that closed its session never heard of its queued prompt' },
  { seed: 421, found: 'a view that another had replaced asked its question again, for ever' },
  { seed: 509, found: 'a load that failed left a view open, which a resume then took for whole' },
  { seed: 515, found: 'a prompt to the view of a load that had failed was never answered' },
  { seed: 638, found: 'a prompt of a lost connection ran after its client had heard that it never came' },
  { seed: 753, found: 'prompts of others were not answered when a session was deleted on a failing disk' },
  { seed: 1374, found: 'a prompt sent again was answered before its slow client had all that led to its end' },
] as const
