/** What a command has once it reaches an agent, whichever way that was. */
import type { Client } from '../../client/client.ts'

export interface Connection {
  readonly client: Client
  /** Ends the connection. Turns of a background server continue; those of an embedded server are interrupted. */
  close(): Promise<void>
  /** What to tell of an error instead, where more is known of it than the connection knows. */
  explain?(error: unknown): Promise<unknown>
}
