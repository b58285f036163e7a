/**
 * Removes privileges from the entries of an imported session as they are applied. The stored entries stay as they were
 * exported, but the user who imports the file has granted nothing, and the file may come from an untrusted source. Pure.
 */
import { PERMISSIVE_MODES } from '../../path-rules/permissive-modes.ts'
import { type Modes } from '../../ports/values/settings.ts'
import type { Entry } from './entries.ts'

/** The same entry, without a permission mode or agent that would run tool calls without asking the user. */
export function withoutPowers(entry: Entry): Entry {
  switch (entry.kind) {
    case 'session_created':
      return { ...entry, agent: needingPermission(entry.agent) }
    case 'session_configured':
      return entry.agent === undefined ? entry : { ...entry, agent: needingPermission(entry.agent) }
    case 'agent_session':
      // The file must not say which conversation of the user's agent is continued.
      return { ...entry, agent: '' }
    case 'modes':
      return { ...entry, modes: entry.modes === null ? null : withoutPrivilegedMode(entry.modes) }
    case 'mode':
      return PERMISSIVE_MODES.has(entry.modeId) ? { ...entry, modeId: 'ask' } : entry
    default:
      return entry
  }
}

/** The user has not chosen this script, so its calls need permission. */
function needingPermission(agent: string): string {
  return agent.startsWith('script:') ? `asked-${agent}` : agent
}

function withoutPrivilegedMode(modes: Modes): Modes | null {
  if (!PERMISSIVE_MODES.has(modes.currentModeId)) return modes
  const other = modes.availableModes.find(({ id }) => !PERMISSIVE_MODES.has(id))
  return other === undefined ? null : { ...modes, currentModeId: other.id }
}
