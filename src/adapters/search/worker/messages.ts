/** What the index and its worker thread say to each other. */
import type { ErrorCode, ErrorDetails } from '../../../errors/catalogue.ts'
import type { SessionId } from '../../../ports/journal.ts'
import type { IndexState, SearchAnswer, SearchRequest } from '../../../ports/search.ts'

export type Order =
  | { readonly kind: 'changed'; readonly sessions: readonly SessionId[] }
  | { readonly kind: 'search'; readonly call: number; readonly request: SearchRequest }
  | { readonly kind: 'inspect'; readonly call: number }
  | { readonly kind: 'close' }

export type News =
  | { readonly kind: 'answer'; readonly call: number; readonly answer: SearchAnswer | IndexState }
  | {
      readonly kind: 'refusal'
      readonly call: number
      readonly code: ErrorCode
      readonly details: ErrorDetails<ErrorCode>
    }
  /** For the log. */
  | { readonly kind: 'report'; readonly sentence: string }
