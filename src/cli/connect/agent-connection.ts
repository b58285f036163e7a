/** A connection to an agent, as commands use it, by whichever way it was made. */
import type { Client } from '../../client/client.ts'

export interface AgentConnection {
  readonly client: Client
  /** Ends the connection. Turns of a background server continue; those of an embedded server are interrupted. */
  close(): Promise<void>
  /** Returns the error to show instead, where the command knows more about it than the connection does. */
  explain?(error: unknown): Promise<unknown>
}
