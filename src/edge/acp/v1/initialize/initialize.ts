/** The response to `initialize`: this server's offer to a client of ACP v1. */
import type { Role } from '../../../../credentials/roles.ts'
import { fail } from '../../../../errors/parley-error.ts'
import type { PromptKinds } from '../../../../ports/agent.ts'
import type { ServerInfo } from '../../version.ts'
import { NOTIFICATIONS } from './client-capabilities.ts'

const PROTOCOL_VERSION = 1

/** Methods on sessions beyond ACP; `docs/internals/protocol.md` describes them. */
const SESSION_METHODS = [
  '_parley/page',
  '_parley/outline',
  '_parley/export',
  '_parley/files',
  '_parley/directories',
  '_parley/seen',
  '_parley/answer',
  '_parley/withdraw',
  '_parley/promote',
  '_parley/ping',
  '_parley/rename',
  '_parley/fork',
  '_parley/revoke',
  '_parley/force_cancel',
  '_parley/release',
] as const

/** `methods` are those of the server beyond ACP. */
export interface InitializeOffer {
  readonly info: ServerInfo
  readonly accepts: PromptKinds
  readonly methods: readonly string[]
  /** What this client may do, so that it offers its user nothing that would be refused. */
  readonly role: Role
  /** Of this server, from which a client can log out again. */
  readonly authMethods: readonly object[]
  /** Of the agent behind it. */
  readonly logins: readonly object[]
  /** Methods that ACP has not settled yet are offered too. */
  readonly experimental: boolean
}

/** Any version of the client is answered with success and the version that this server speaks. Throws PARAMS_INVALID. */
export function initializeResult(
  params: unknown,
  { info, accepts, methods, role, authMethods, logins, experimental }: InitializeOffer,
) {
  requireVersion(params)
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: accepts,
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: {
        list: {},
        resume: {},
        close: {},
        delete: {},
        additionalDirectories: {},
        ...(experimental && { fork: {} }),
      },
      ...(authMethods.length > 0 && { auth: { logout: {} } }),
      _meta: {
        parley: {
          cursor: {},
          promptId: {},
          adopt: {},
          places: {},
          role,
          notifications: NOTIFICATIONS,
          methods: [...SESSION_METHODS, ...methods],
        },
      },
    },
    agentInfo: info,
    authMethods: [...authMethods, ...logins],
  }
}

function requireVersion(params: unknown): void {
  const version = (params as { readonly protocolVersion?: unknown } | undefined)?.protocolVersion
  if (!Number.isInteger(version) || (version as number) < 0) {
    fail('PARAMS_INVALID', { method: 'initialize', reason: 'protocolVersion must be a whole number from 0' })
  }
}
