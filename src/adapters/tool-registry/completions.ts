/** Argument suggestions for slash commands that MCP servers offer as prompts; recent answers are kept. */
import { withTimeout } from '../../async/with-timeout.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CompletionRequest, PromptTemplate, ToolList } from '../../ports/tools.ts'

/** The user's input after the name of a prompt. */
export interface TypedArgument {
  readonly prompt: string
  readonly text: string
}

/** The argument at the cursor: its name, its text so far, and possible values. */
export interface ArgumentSuggestions {
  readonly argument: string
  readonly value: string
  readonly values: readonly string[]
}

export interface CompletionSource {
  readonly list: () => ToolList
  readonly complete: (server: string, wanted: CompletionRequest, signal: AbortSignal) => Promise<readonly string[]>
}

/** How long suggestions are kept, and how many. */
const KEEP_MS = 10_000
const MAX_KEPT = 200
/** After that the user types on. */
const TIMEOUT_MS = 3000

type Complete = (
  session: string,
  typed: TypedArgument,
  from: readonly CompletionSource[],
) => Promise<ArgumentSuggestions | undefined>

/** Resolves with undefined for an unknown prompt or argument. A server that fails or is too slow suggests nothing. */
export function openCompletions(clock: Clock): Complete {
  const kept = new Map<string, { readonly at: number; readonly values: Promise<readonly string[]> }>()

  function ask(key: string, work: () => Promise<readonly string[]>): Promise<readonly string[]> {
    const known = kept.get(key)
    if (known !== undefined && clock.monotonicNow() - known.at < KEEP_MS) return known.values
    if (kept.size >= MAX_KEPT) kept.clear()
    const values = work().catch(() => {
      kept.delete(key)
      return []
    })
    kept.set(key, { at: clock.monotonicNow(), values })
    return values
  }

  const timedOut = (): Error => new Error('the server did not answer in time')

  return async (session, { prompt, text }, from) => {
    for (const { list, complete } of from) {
      const template = list().prompts.find(({ name }) => name === prompt)
      const place = template === undefined ? undefined : placeIn(template, text)
      if (template === undefined || place === undefined) continue
      const { argument, value } = place
      const wanted = { of: { prompt: template.serverPromptName }, ...place }
      const values = await ask(JSON.stringify([session, prompt, place]), () =>
        withTimeout((signal) => complete(template.server, wanted, signal as AbortSignal), {
          clock,
          ms: TIMEOUT_MS,
          timedOut,
        }),
      )
      return { argument, value, values }
    }
    return undefined
  }
}

/** One word for each argument, and the rest for the last, as when the prompt is filled in. */
function placeIn({ arguments: names }: PromptTemplate, text: string): Omit<CompletionRequest, 'of'> | undefined {
  const words = text.trimStart().split(/\s+/u)
  const at = Math.min(words.length, names.length) - 1
  const argument = names[at]?.name
  if (argument === undefined) return undefined
  const known = Object.fromEntries(names.slice(0, at).map(({ name }, index) => [name, words[index] ?? '']))
  return { argument, value: words.slice(at).join(' '), ...(at > 0 && { known }) }
}
