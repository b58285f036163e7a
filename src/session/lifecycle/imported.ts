/**
 * What the entries of an imported session make true here. They stay as they were exported; but their user allowed there what
 * ran without a question, and the user who imports them has allowed nothing: the file may be from anyone. Pure.
 */
import { PERMISSIVE_MODES } from '../../access/permissive-modes.ts'
import type { Modes } from '../../ports/settings.ts'
import type { Entry } from '../domain/entries.ts'

/** The same entry, without a permission that it would carry over. */
export function withoutPowers(entry: Entry): Entry {
  switch (entry.kind) {
    case 'session_created':
      return { ...entry, agent: asked(entry.agent) }
    case 'session_configured':
      return entry.agent === undefined ? entry : { ...entry, agent: asked(entry.agent) }
    case 'modes':
      return { ...entry, modes: entry.modes === null ? null : cautious(entry.modes) }
    case 'mode':
      return PERMISSIVE_MODES.has(entry.modeId) ? { ...entry, modeId: 'ask' } : entry
    default:
      return entry
  }
}

/** The user has not named that file. */
function asked(agent: string): string {
  return agent.startsWith('script:') ? `asked-${agent}` : agent
}

function cautious(modes: Modes): Modes | null {
  if (!PERMISSIVE_MODES.has(modes.currentModeId)) return modes
  const other = modes.availableModes.find(({ id }) => !PERMISSIVE_MODES.has(id))
  return other === undefined ? null : { ...modes, currentModeId: other.id }
}
