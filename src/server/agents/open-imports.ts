/** What the import of an agent's own sessions needs: the agents of this user, processes, and the journal. */
import type { Config } from '../../config/settings.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ImportingJournal } from '../../ports/journal.ts'
import type { Processes } from '../../ports/process.ts'
import { openCatalogue, TakenSessions } from '../compose/agent-catalogue.ts'
import { serverInfo } from '../server-info.ts'
import { AgentImports } from './import-sessions.ts'

interface Services {
  readonly journal: ImportingJournal
  readonly processes: Processes
  readonly clock: Clock
}

export function openAgentImports(config: Config, services: Services): AgentImports {
  const { catalogue, installed } = openCatalogue(config)
  const { clock } = services
  return new AgentImports({
    ...services,
    catalogue,
    taken: new TakenSessions(installed.directory),
    clientInfo: serverInfo,
    // A client that leaves does not stop an import; the end of the server does, with its children.
    signal: clock.abortSource().signal,
    newId: () => clock.id(),
  })
}
