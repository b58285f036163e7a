/** Which changes of tool calls a late reader need not hear of. Pure. */
import type { Entry } from './entries.ts'

/**
 * Leaves out a change of a tool call when later ones of these entries set all that it sets. Whoever has heard of some of them
 * and goes on from there ends with the same call: what was left out is set again by one that was told, or still will be.
 */
export function withoutSuperseded(entries: readonly Entry[]): readonly Entry[] {
  const isTold = new Later()
  const backwards = entries.toReversed().filter((entry) => isTold.of(entry))
  return backwards.length === entries.length ? entries : backwards.toReversed()
}

/** What is set later, by the id of the call; entries come from the last to the first. */
class Later {
  readonly #set = new Map<string, ReadonlySet<string>>()

  of(entry: Entry): boolean {
    switch (entry.kind) {
      case 'tool_call':
        // What is said of this id before is said of another call.
        this.#set.delete(entry.toolCallId)
        return true
      case 'tool_call_patched': {
        const later = this.#set.get(entry.toolCallId)
        const keys = Object.keys(entry.patch)
        if (later !== undefined && keys.every((key) => later.has(key))) return false
        this.#set.set(entry.toolCallId, new Set([...(later ?? []), ...keys]))
        return true
      }
      default:
        return true
    }
  }
}
