/** The telemetry of a server. It does nothing if the environment names no collector. */
import type { Journal } from '../../ports/journal.ts'
import type { Models } from '../../ports/model.ts'
import type { ToolHost } from '../../ports/tools.ts'

export interface ServerTelemetry {
  journal<Watching extends Journal>(journal: Watching): Watching
  models<Watching extends Models>(models: Watching): Watching
  tools<Watching extends ToolHost>(host: Watching): Watching
  /** `read` is called whenever metrics are sent. */
  gauge(name: string, unit: string, read: () => number): void
  /** Sends what is left, within a bound of time. */
  close(): Promise<void>
}

export const NO_TELEMETRY: ServerTelemetry = {
  journal: (journal) => journal,
  models: (models) => models,
  tools: (host) => host,
  gauge: () => undefined,
  close: async () => undefined,
}
