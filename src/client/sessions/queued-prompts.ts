/** Prompts that wait for a connection: cancelled or taken back before there is one, they are never sent. */
interface Waiting {
  readonly sessionId: string
  readonly drop: () => void
}

export class QueuedPrompts {
  readonly #waiting = new Set<Waiting>()

  /** Resolves with what is waited for, or with undefined when the prompt is not wanted any more. */
  wait<Awaited>(
    sessionId: string,
    awaited: Promise<Awaited>,
    withdrawn: AbortSignal | undefined,
  ): Promise<Awaited | undefined> {
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
      awaited.finally(done).then(resolve, reject)
    })
  }

  cancel(sessionId: string): void {
    for (const waiting of this.#waiting) if (waiting.sessionId === sessionId) waiting.drop()
  }
}
