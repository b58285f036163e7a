/** Asks an older server to stop, so that a newer one of our version takes its place, and knows how the connection to a server ends. */
import { fieldsOf, type Fields } from '../rpc/json-rpc.ts'

/** `stopping`: a user or an administrator stopped the server. `upgrading`: it stops for us, or the session moves to another server. */
export type ConnectionEnding = 'unexpected' | 'stopping' | 'upgrading'

export class ServerUpgrade {
  readonly #version: string
  /** How the connection to the server ends if it ends now. */
  ending: ConnectionEnding = 'unexpected'
  /** An older server has been asked to stop: nothing more is sent to it until it answers or is gone. */
  isPending = false

  /** `version` is ours. */
  constructor(version: string) {
    this.#version = version
  }

  /** Whether the server that answered `initialize` so is older than we are, and can be asked to stop. */
  isDue(initializeResult: Fields): boolean {
    const version = stoppableVersion(initializeResult)
    return version !== undefined && isOlder(version, this.#version)
  }

  /** The server has answered whether it stops; a server whose turns run does not. */
  answered(isStopping: boolean): void {
    this.isPending = false
    if (isStopping) this.ending = 'upgrading'
  }

  /** The session is about to be on another server: nothing more is sent to this one, which ends the connection. */
  moving(): void {
    this.isPending = true
    this.ending = 'upgrading'
  }

  /** The server has announced that it stops. */
  stopping(): void {
    if (this.ending === 'unexpected') this.ending = 'stopping'
  }

  /** The connection is gone. Returns how it was to end. */
  lose(): ConnectionEnding {
    const { ending } = this
    this.ending = 'unexpected'
    this.isPending = false
    return ending
  }
}

/** The version of a server that can be asked to stop, from its answer to `initialize`. */
export function stoppableVersion(result: Fields): string | undefined {
  const { methods } = fieldsOf(fieldsOf(fieldsOf(result['agentCapabilities'])['_meta'])['parley'])
  const { version } = fieldsOf(result['agentInfo'])
  return typeof version === 'string' && Array.isArray(methods) && methods.includes('_parley/stop') ? version : undefined
}

/** Compares the three numbers of semantic versions; a text that is no version is not older. */
export function isOlder(version: string, than: string): boolean {
  const [numbers, others] = [numbersOf(version), numbersOf(than)]
  if (numbers === undefined || others === undefined) return false
  const at = numbers.findIndex((number, index) => number !== others[index])
  return at !== -1 && (numbers[at] ?? 0) < (others[at] ?? 0)
}

function numbersOf(version: string): readonly number[] | undefined {
  return /^(\d+)\.(\d+)\.(\d+)/u.exec(version)?.slice(1).map(Number)
}
