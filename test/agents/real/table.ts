/** What was seen with real agents, as a table agent × case, and why what is missing is missing. */
import type { Setup } from './setups.ts'

export interface Seen {
  readonly setup: Setup
  readonly name: string
  /** `limit`: the agent cannot do that, as its setup says. */
  readonly verdict: 'yes' | 'limit' | 'NO'
  readonly words: string
}

/** `words`: what was seen, or what went wrong. */
export function seenOf(setup: Setup, name: string, { isGood, words }: { isGood: boolean; words: string }): Seen {
  const reason = setup.cannot?.[name]
  if (reason === undefined) return { setup, name, verdict: isGood ? 'yes' : 'NO', words }
  if (!isGood) return { setup, name, verdict: 'limit', words: reason }
  return { setup, name, verdict: 'NO', words: `out of date: it works now (${words}), though “${reason}”` }
}

/** Markdown: one row for each case, one column for each agent; what is missing has a number, explained below. */
export function tableOf(seen: readonly Seen[]): string {
  const setups = [...new Set(seen.map(({ setup }) => setup))]
  const names = [...new Set(seen.map(({ name }) => name))]
  const missing = seen.filter(({ verdict }) => verdict !== 'yes')
  const cell = (setup: Setup, name: string): string => {
    const one = seen.find((each) => each.setup === setup && each.name === name)
    if (one === undefined) return '–'
    return one.verdict === 'yes' ? 'yes' : `**no** (${missing.indexOf(one) + 1})`
  }
  const rows = names.map((name) => [name].concat(setups.map((setup) => cell(setup, name))))
  const head = ['case', ...setups.map(({ name, version }) => `${name} ${version}`)]
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  const reasons = missing.map(({ setup, words, verdict }, at) => {
    const said = verdict === 'limit' ? words : `not as it should be: ${words}`
    return `${at + 1}. ${setup.name} ${setup.version}: ${said}.`
  })
  return [...lines, ...(reasons.length === 0 ? [] : ['', ...reasons])].join('\n')
}
