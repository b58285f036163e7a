/** What a script may not do that only a file names, and not the user: give itself a permission that the user has not given. */
import type { Step } from './lines.ts'
import type { ScriptOffer } from './offer.ts'

/** Modes in which calls run that would be asked about otherwise. */
const PRIVILEGED: ReadonlySet<unknown> = new Set(['accept-edits', 'allow-all'])

/** Throws for an offer that begins in such a mode, and for a step that switches to one. The user may switch to it. */
export function requireUnprivileged(what: ScriptOffer | Step): void {
  if (modesIn(what).some((mode) => PRIVILEGED.has(mode)))
    throw new Error('only a script that --agent or PARLEY_AGENT names may set the mode accept-edits or allow-all')
}

/** An option may stand for the mode. */
function modesIn(what: ScriptOffer | Step): readonly unknown[] {
  if (!('kind' in what))
    return [what.modes?.currentModeId, ...what.configOptions.map(({ currentValue }) => currentValue)]
  if (what.kind === 'mode') return [what.modeId]
  return what.kind === 'config' ? [what.value] : []
}
