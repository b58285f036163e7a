/** What rules keep from a call that comes upon a file without having named it: in a list, in a search, behind a link. Pure. */
import { executorOf } from '../../access/executed-later.ts'
import { type PathAccess, barOf, isGoverning, isOwnPlace } from '../../access/path-access.ts'
import type { RuleEffect, RuleSet } from '../../ports/rules.ts'
import type { PathAccessFilter } from '../../ports/bars.ts'
import type { Tool } from '../../ports/tools.ts'
import { type ToolCallSubject, matchesBroadly, isOfTool } from './rule-matcher.ts'

/**
 * For a call that was decided on. A rule that asks was answered when it caught the call itself: the user said yes to all that
 * the call names.
 */
export function pathAccessFilterFor(call: ToolCallSubject, set: RuleSet): PathAccessFilter {
  const isNamed = (call.preview.paths ?? []).some((path) => isOwnPlace(path, set))
  const unanswered = set.rules.filter(
    ({ effect, subject }) => effect === 'deny' || !matchesBroadly(subject, call, set.roots),
  )
  const access = accessOf([call.tool], { ...set, rules: unanswered, own: isNamed ? [] : set.own })
  const { tool, preview } = call
  const isAnswered = tool.readOnly || (preview.paths ?? []).some((path) => isExecuted(path))
  // An edit that was not asked about must not get to a file that is executed later behind a link that was swapped since.
  return (path) => barOf(path, access) ?? (!isAnswered && isExecuted(path) ? 'asked' : undefined)
}

function isExecuted(path: string): boolean {
  return isGoverning(path) || executorOf(path) !== undefined
}

/** For what an agent reads of its own accord, such as instructions: no tool, no question, no answer. */
export function pathAccessFilterForAgent(set: RuleSet): PathAccessFilter {
  const access = accessOf([], set)
  return (path) => barOf(path, access)
}

/** For whatever reaches files by any of these tools; a rule that names a tool or a server counts where it fits one of them. */
export function accessOf(tools: readonly Tool[], { rules, roots, own }: RuleSet): PathAccess {
  const patterns = (wanted: RuleEffect) =>
    rules.flatMap(({ effect, subject }) => {
      const { path, command, host, tool, server, definition } = subject
      const isOfPlaces = path !== undefined && command === undefined && host === undefined
      const isOfAll = tool === undefined && server === undefined && definition === undefined
      const isMeant = isOfAll || tools.some((one) => isOfTool(subject, one))
      return effect === wanted && isOfPlaces && isMeant ? [path] : []
    })
  return { roots, own, denied: patterns('deny'), asked: patterns('ask') }
}
