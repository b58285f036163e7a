/** Prompts that wait for a connection: one that is cancelled or withdrawn before there is one is never sent. */
interface QueuedPrompt {
  readonly sessionId: string
  readonly drop: () => void
}

export class QueuedPrompts {
  readonly #waiting = new Set<QueuedPrompt>()

  /** Resolves with the connection, or with undefined when the prompt is no longer wanted. */
  wait<Connection>(
    sessionId: string,
    connection: Promise<Connection>,
    withdrawn: AbortSignal | undefined,
  ): Promise<Connection | undefined> {
    return new Promise((resolve, reject) => {
      const drop = (): void => resolve(undefined)
      const waiting = { sessionId, drop }
      this.#waiting.add(waiting)
      withdrawn?.addEventListener('abort', drop)
      if (withdrawn?.aborted === true) drop()
      const done = (): void => {
        this.#waiting.delete(waiting)
        withdrawn?.removeEventListener('abort', drop)
      }
      connection.finally(done).then(resolve, reject)
    })
  }

  cancel(sessionId: string): void {
    for (const waiting of this.#waiting) if (waiting.sessionId === sessionId) waiting.drop()
  }
}
