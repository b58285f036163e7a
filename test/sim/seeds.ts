/** Seeds that once failed, and what each of them found; every run of the tests plays them again. */

export interface KnownSeed {
  readonly seed: number
  readonly clients: number
  readonly found: string
}

export const knownSeeds: readonly KnownSeed[] = []
