/** Every case, topic by topic. */
import { accessCases } from './access.ts'
import type { Case } from '../case.ts'
import { cancelCases } from './cancel.ts'
import { elicitationCases, fileCases, terminalCases } from './client-methods.ts'
import { companyCases } from './company.ts'
import { conventionCases } from './conventions.ts'
import { decisionCases } from './decisions.ts'
import { directoryCases } from './directories.ts'
import { authCases, errorCases, extensionCases } from './extensions.ts'
import { foundingCases } from './founding.ts'
import { initializeCases } from './initialize.ts'
import { jsonRpcCases } from './json-rpc.ts'
import { endCases, listCases } from './list.ts'
import { loadCases, resumeCases } from './load.ts'
import { mcpCases } from './mcp-servers.ts'
import { commandCases, configCases, modeCases } from './modes.ts'
import { newCases } from './new.ts'
import { permissionCases } from './permission.ts'
import { promptCases } from './prompt.ts'
import { planCases, toolCallCases } from './tool-calls.ts'
import { kindsOfClient } from './kinds-of-client.ts'
import { principalCases } from './principals.ts'
import { rootCases } from './roots.ts'
import { storedSessionCases } from './stored-sessions.ts'
import { framingCases } from './framing.ts'

const topics: Readonly<Record<string, readonly Case[]>> = {
  framing: framingCases,
  'JSON-RPC': jsonRpcCases,
  conventions: conventionCases,
  initialize: initializeCases,
  'kinds of clients': kindsOfClient,
  'signing in': authCases,
  'session/new': newCases,
  'MCP servers': mcpCases,
  'session/load': loadCases,
  'session/resume': resumeCases,
  'session/list': listCases,
  principals: principalCases,
  'session/delete and session/close': endCases,
  directories: directoryCases,
  'the root set': rootCases,
  prompt: promptCases,
  'tool calls': toolCallCases,
  permission: permissionCases,
  plan: planCases,
  modes: modeCases,
  'config options': configCases,
  commands: commandCases,
  cancel: cancelCases,
  files: fileCases,
  terminals: terminalCases,
  elicitation: elicitationCases,
  extensibility: extensionCases,
  errors: errorCases,
  'founding exchanges': foundingCases,
  decisions: decisionCases,
  'stored sessions': storedSessionCases,
  access: accessCases,
  company: companyCases,
}

export interface NamedCase extends Case {
  /** What a test of it is called: topic, what holds, and the requirement as a tag: `-t A-TR-3` finds it. */
  readonly title: string
}

export const cases: readonly NamedCase[] = Object.entries(topics).flatMap(([topic, its]) =>
  its.map((one) => ({ ...one, title: `${topic}: ${one.name} [${one.row}]` })),
)
