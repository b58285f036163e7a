/** A row of the table: what was measured, in one run with the floors that it is compared with. */

export interface Row {
  readonly what: string
  readonly measured: string
  readonly goal: string
  /** What the same run measured of something that does no more than it must. */
  readonly floor: string
  readonly ok: boolean
}

export interface Measuring {
  /** Fewer repeats and smaller sizes: shows that it works, not how fast. */
  readonly quick: boolean
  /** A directory of its own, on the disk that is measured. */
  readonly directory: string
}

export type Measurement = (measuring: Measuring) => Promise<readonly Row[]>

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 0)} ms`
}

export function perSecond(count: number): string {
  return `${Math.round(count).toLocaleString('en')} /s`
}

export function times(ratio: number): string {
  return `${ratio.toFixed(2)} ×`
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`
}
