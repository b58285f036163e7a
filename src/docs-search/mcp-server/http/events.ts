/** What was sent on the streams of one session, for a client that lost one and asks for the rest. */
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

interface StoredEvent {
  readonly id: string
  readonly stream: string
  readonly message: JSONRPCMessage
  readonly size: number
}

/** A client that lost more than this lists and asks anew. */
const MOST_EVENTS = 500
const MOST_CHARACTERS = 4_000_000

/** Kept in memory, as long as the session. An id names its stream, and only what came after it there is given again. */
export class SessionEvents implements EventStore {
  #events: StoredEvent[] = []
  #characters = 0
  #last = 0

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = `${++this.#last}-${stream}`
    const size = JSON.stringify(message).length
    this.#events.push({ id, stream, message, size })
    this.#characters += size
    while (this.#events.length > MOST_EVENTS || (this.#characters > MOST_CHARACTERS && this.#events.length > 1)) {
      this.#characters -= this.#events.shift()?.size ?? 0
    }
    return id
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.find((event) => event.id === id)?.stream
  }

  async replayEventsAfter(
    id: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.#events.findIndex((event) => event.id === id)
    const stream = this.#events[at]?.stream ?? ''
    // The first event of a stream is empty: it only tells where to go on from.
    const missed = this.#events.slice(at + 1).filter((event) => event.stream === stream && 'jsonrpc' in event.message)
    for (const event of missed) await send(event.id, event.message)
    return stream
  }
}
