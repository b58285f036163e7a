/** Every error that Parley can report: its code, its sentence, its JSON-RPC code, and whether trying again may help. */
import { accessRows } from './rows/access-rows.ts'
import { agentRows } from './rows/agent-rows.ts'
import { clientRows } from './rows/client-rows.ts'
import { clusterRows } from './rows/cluster-rows.ts'
import { docsRows } from './rows/docs-rows.ts'
import { fileRows } from './rows/file-rows.ts'
import { journalRows } from './rows/journal-rows.ts'
import { modelRows } from './rows/model-rows.ts'
import { requestRows } from './rows/request-rows.ts'
import { serverRows } from './rows/server-rows.ts'
import { sessionRows } from './rows/session-rows.ts'
import { toolRows } from './rows/tool-rows.ts'

export const catalogue = {
  ...journalRows,
  ...serverRows,
  ...clusterRows,
  ...sessionRows,
  ...clientRows,
  ...agentRows,
  ...requestRows,
  ...accessRows,
  ...toolRows,
  ...modelRows,
  ...docsRows,
  ...fileRows,
} as const

export type ErrorCode = keyof typeof catalogue

/** The values in the sentence of `Code`. Never a secret: details reach clients and logs. */
export type ErrorDetails<Code extends ErrorCode> = Parameters<(typeof catalogue)[Code]['sentence']>[0]
