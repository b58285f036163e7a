/** What a server that runs is ordered to suffer: by files, and by those who are loaded into it before its own code. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChaosPlan } from './plan.ts'

const UNKIND = fileURLToPath(new URL('unkind.cjs', import.meta.url))

/** Of everyone in a town. What the faults are is known from the beginning; when they count is an order. */
export function environmentOf(plans: readonly ChaosPlan[], orders: string): Readonly<Record<string, string>> {
  const faults = plans.flatMap(({ condition, seed }) =>
    'faults' in condition ? condition.faults.map((fault) => ({ ...fault, during: faultsOf(orders, seed) })) : [],
  )
  return { NODE_OPTIONS: `--require=${UNKIND}`, CHAOS_ORDERS: orders, PARLEY_FAULTS: JSON.stringify(faults) }
}

/** The file for as long as which the faults of a plan count. */
export function faultsOf(orders: string, seed: number): string {
  return join(orders, `faults ${seed}`)
}
