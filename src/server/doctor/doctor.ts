/** Checks everything that Parley needs, changes nothing, and suggests a remedy for each problem. */
import type { Diagnosis } from '../../config/diagnose.ts'
import { checkAgent } from './chosen-agent.ts'
import type { Finding } from './finding.ts'
import { diagnoseJournal, checkSearchIndex } from './journal.ts'
import { checkSandbox } from './sandbox.ts'
import { checkNode, checkSettings } from './program.ts'
import { checkOrphans, checkServer } from './server.ts'
import { checkHome } from './home.ts'

export type { Finding }

/** In the order in which one problem makes others; every check is made, whatever those before it found. */
export async function* findings(diagnosis: Diagnosis): AsyncGenerator<Finding> {
  const { config } = diagnosis
  yield checkNode(process.versions.node)
  yield* checkSettings(diagnosis)
  yield* checkHome(config)
  yield* checkServer(config)
  yield* diagnoseJournal(config)
  yield* checkSearchIndex(config)
  yield* checkOrphans(config)
  yield* checkAgent(config)
  yield* checkSandbox(config)
}
