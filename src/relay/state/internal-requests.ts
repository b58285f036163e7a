/** Requests that the relay itself puts to the server; the client never sees their answers. */
import { type Fields, type RequestId, type Response, keyOf, requestLine } from '../messages.ts'

/** What the client gets in place of the answer. */
type Answered = (response: Response) => Buffer

/** No client of ACP has reason to begin an id so. */
const PREFIX = 'parley-relay-'

export class InternalRequests {
  readonly #open = new Map<string, Answered>()
  #count = 0

  get areAnswered(): boolean {
    return this.#open.size === 0
  }

  line(method: string, params: Fields, answered: Answered): Buffer {
    this.#count += 1
    const id = `${PREFIX}${this.#count}`
    this.#open.set(keyOf(id), answered)
    return requestLine(id, method, params)
  }

  /** Undefined for the answer to somebody else's request. */
  answer(response: Response): Buffer | undefined {
    const key = keyOf(response.id)
    const answered = this.#open.get(key)
    this.#open.delete(key)
    return answered?.(response)
  }

  /** Whoever was asked is gone. */
  clear(): void {
    this.#open.clear()
  }
}

/** An id for what must be answered and whose answer nobody needs. */
export function discardedId(which: number | string): RequestId {
  return `${PREFIX}unheard-${which}`
}
