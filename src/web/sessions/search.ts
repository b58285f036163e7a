/** Results from the server's index while a query is being typed. */
import { useEffect, useState } from 'preact/hooks'
import type { SearchResult } from '../../client/connection/responses.ts'
import type { App } from './app.ts'
import { sentenceOf } from './error-sentences.ts'

/** So that not every key is a question. */
const PAUSE_MS = 120
/** An index that is behind is asked again. */
const AGAIN_MS = 1_000

export interface SearchOutcome {
  /** Undefined until there is an answer, and where nothing is looked for. */
  readonly result: SearchResult | undefined
  readonly trouble: string
}

const NOTHING: SearchOutcome = { result: undefined, trouble: '' }

/** Late answers to what is no longer asked are dropped. */
export function useSearch(
  app: App,
  text: string,
  { limit, sessionId }: { readonly limit: number; readonly sessionId?: string },
): SearchOutcome {
  const [found, setFound] = useState(NOTHING)
  useEffect(() => {
    if (text.trim() === '') return setFound(NOTHING)
    let isWanted = true
    let timer: ReturnType<typeof setTimeout>
    const ask = async (): Promise<void> => {
      try {
        const result = await (await app.connected).search(text, limit, sessionId)
        if (!isWanted) return
        setFound({ result, trouble: '' })
        if (result.behind > 0) timer = setTimeout(() => void ask(), AGAIN_MS)
      } catch (error) {
        if (isWanted) setFound({ result: undefined, trouble: sentenceOf(error) })
      }
    }
    timer = setTimeout(() => void ask(), PAUSE_MS)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [text, sessionId])
  return found
}
