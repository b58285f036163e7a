/** What rules keep from a call that comes upon a file without having named it: in a list, in a search, behind a link. Pure. */
import { type PathAccess, barOf, isOwnPlace } from '../access/path-access.ts'
import type { RuleEffect, RuleSet } from '../ports/rules.ts'
import type { Bars } from '../ports/bars.ts'
import type { Tool } from '../ports/tools.ts'
import { type Considered, isCaught, isOfTool } from './rules.ts'

/**
 * For a call that was decided on. A rule that asks was answered when it caught the call itself: the user said yes to all that
 * the call names.
 */
export function barsFor(call: Considered, set: RuleSet): Bars {
  const isNamed = (call.preview.paths ?? []).some((path) => isOwnPlace(path, set))
  const unanswered = set.rules.filter(({ effect, subject }) => effect === 'deny' || !isCaught(subject, call, set.roots))
  const access = accessOf([call.tool], { ...set, rules: unanswered, own: isNamed ? [] : set.own })
  return (path) => barOf(path, access)
}

/** For what an agent reads of its own accord, such as instructions: no tool, no question, no answer. */
export function barsForAgent(set: RuleSet): Bars {
  const access = accessOf([], set)
  return (path) => barOf(path, access)
}

/** For whatever reaches files by any of these tools; a rule that names a tool or a server counts where it fits one of them. */
export function accessOf(tools: readonly Tool[], { rules, roots, own }: RuleSet): PathAccess {
  const patterns = (wanted: RuleEffect) =>
    rules.flatMap(({ effect, subject }) => {
      const { path, command, host, tool, server, mark } = subject
      const isOfPlaces = path !== undefined && command === undefined && host === undefined
      const isOfAll = tool === undefined && server === undefined && mark === undefined
      const isMeant = isOfAll || tools.some((one) => isOfTool(subject, one))
      return effect === wanted && isOfPlaces && isMeant ? [path] : []
    })
  return { roots, own, denied: patterns('deny'), asked: patterns('ask') }
}
