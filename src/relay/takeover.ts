/** Whether a server makes room for a newer version of itself. */
import { type Fields, fieldsOf } from './messages.ts'

/** The version of a server that can be asked to stop, from its answer to `initialize`. */
export function versionIn(result: Fields): string | undefined {
  const { methods } = fieldsOf(fieldsOf(fieldsOf(result['agentCapabilities'])['_meta'])['parley'])
  const { version } = fieldsOf(result['agentInfo'])
  return typeof version === 'string' && Array.isArray(methods) && methods.includes('_parley/stop') ? version : undefined
}

/** By the three numbers of semver; what is no version is not older. */
export function isOlder(version: string, than: string): boolean {
  const [numbers, others] = [numbersOf(version), numbersOf(than)]
  if (numbers === undefined || others === undefined) return false
  const at = numbers.findIndex((number, index) => number !== others[index])
  return at !== -1 && (numbers[at] ?? 0) < (others[at] ?? 0)
}

function numbersOf(version: string): readonly number[] | undefined {
  return /^(\d+)\.(\d+)\.(\d+)/u.exec(version)?.slice(1).map(Number)
}
