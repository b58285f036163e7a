/** What rules keep from a call that comes upon it without having named it: in a list, in a search, behind a link. Pure. */
import type { RuleSet } from '../ports/rules.ts'
import type { Bar, Bars } from '../ports/tools.ts'
import { type Considered, catchesPath, isCaught, isOfTool } from './rules.ts'
import { ownPlace } from './verdict.ts'

/** A rule that asks was answered when it caught the call itself: whoever said yes has said it of all that the call names. */
export function barsFor(call: Considered, set: RuleSet): Bars {
  const { roots } = set
  const patterns = (effect: 'ask' | 'deny') =>
    set.rules.flatMap((rule) => {
      const { path, command, host } = rule.subject
      const isOfPlaces = path !== undefined && command === undefined && host === undefined
      const isAnswered = effect === 'ask' && isCaught(rule.subject, call, roots)
      return rule.effect === effect && isOfPlaces && isOfTool(rule.subject, call.tool) && !isAnswered ? [path] : []
    })
  const [denied, asked] = [patterns('deny'), patterns('ask')]
  const isNamed = (call.preview.paths ?? []).some((path) => ownPlace(path, set))
  return (path): Bar | undefined => {
    if (denied.some((pattern) => catchesPath(pattern, [path], roots))) return 'denied'
    const isAsked = asked.some((pattern) => catchesPath(pattern, [path], roots)) || (!isNamed && ownPlace(path, set))
    return isAsked ? 'asked' : undefined
  }
}
