/**
 * What a client may name when it opens a session. A directory, a command of an MCP server and a script are of the server's
 * machine: whoever may not administer it names only directories that sessions have already.
 */
import { fail } from '../../../../errors/parley-error.ts'
import type { SessionDirectory } from '../../../../session/handle.ts'
import type { Access } from '../../../access.ts'
import type { RequestedAgent } from '../initialize/requested-agent.ts'
import type { Parsed } from './params.ts'

interface Opener {
  readonly sessions: Pick<SessionDirectory, 'list'>
  readonly access: Access
  readonly agent: RequestedAgent
}

type Named = Pick<Parsed<'session/new'>, 'cwd' | 'additionalDirectories' | 'mcpServers'>

const SCRIPT = 'script:'

/** For a session that does not exist yet. Throws ROLE_TOO_LOW and DIRECTORY_FOREIGN. */
export async function requireMayCreate(named: Named, opener: Opener): Promise<void> {
  requireAgent(opener)
  requireServers(named, opener)
  await requireDirectories([['cwd', named.cwd], ...additional(named)], opener)
}

/**
 * For a stored session, whose own cwd the client must name anyway. Whoever only reads changes nothing for others: neither
 * its agent nor its prompts. Throws ROLE_TOO_LOW and DIRECTORY_FOREIGN.
 */
export async function requireMayOpen(
  named: Named & Pick<Parsed<'session/load'>, '_meta'>,
  opener: Opener,
): Promise<void> {
  const { access, agent } = opener
  if (agent.chosen) {
    access.requireRole('approve', 'To give a session another agent')
    requireAgent(opener)
  }
  if ((named._meta?.['parley/prompts'] ?? []).length > 0) access.requireRole('prompt', 'To wait for prompts')
  requireServers(named, opener)
  await requireDirectories(additional(named), opener)
}

/** The agent of the server's own settings is no choice of the client. */
function requireAgent({ access, agent }: Opener): void {
  if (agent.name.startsWith(SCRIPT) && agent.isRequested)
    access.requireRole('admin', 'To name a script of the server as agent')
}

function requireServers({ mcpServers }: Named, { access }: Opener): void {
  if (mcpServers.length > 0) access.requireRole('admin', 'To name MCP servers')
}

function additional({ additionalDirectories }: Named): readonly (readonly [what: string, path: string])[] {
  return additionalDirectories.map((path, index) => [`additionalDirectories[${index}]`, path])
}

/** Compared as texts, so that no link and no `..` leads elsewhere. */
async function requireDirectories(
  directories: readonly (readonly [what: string, path: string])[],
  { access, sessions }: Opener,
): Promise<void> {
  if (access.mayNamePlaces) return
  for (const [what, path] of directories) {
    const known = await sessions.list({ cwd: path, limit: 1 })
    if (known.length === 0) fail('DIRECTORY_FOREIGN', { what, path })
  }
}
