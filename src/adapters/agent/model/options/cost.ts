/** What a session has cost, and how full its context is. */
import type { ModelPrice, ModelUsage } from '../../../../ports/model.ts'
import type { Spent } from '../context/context-event.ts'
import type { TurnWork } from '../loop/work.ts'

/** After a step. */
export interface Counted {
  /** Tokens of it, prompt and answer. */
  readonly used: number
  readonly spent: Spent
}

const MILLION = 1_000_000

/** Unknown prices add nothing: the sum is what is known to have been spent. */
export function spentWith(spent: Spent, usage: ModelUsage, price: ModelPrice | undefined): Spent {
  if (price === undefined) return spent
  const { currency } = price
  return { ...spent, [currency]: (spent[currency] ?? 0) + costOf(usage, price) }
}

function costOf({ input, output, cacheRead, cacheWrite }: ModelUsage, price: ModelPrice): number {
  const plain = Math.max(0, input - cacheRead - cacheWrite)
  const sum = plain * price.input + output * price.output + cacheRead * price.cacheRead + cacheWrite * price.cacheWrite
  return sum / MILLION
}

/** Nothing where the window of the model is not known: a share of it is what is told. */
export async function tellUsage({ turn }: TurnWork, { used, spent }: Counted, size: number | undefined): Promise<void> {
  if (size === undefined) return
  const [cost] = Object.entries(spent).map(([currency, amount]) => ({ amount: rounded(amount), currency }))
  await turn.usage({ used, size, ...(cost !== undefined && { cost }) })
}

/** Sums of small fractions end in noise. */
function rounded(amount: number): number {
  return Math.round(amount * 1e9) / 1e9
}
