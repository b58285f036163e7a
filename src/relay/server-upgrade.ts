/** Whether a server makes room for a newer version of itself, and how the connection to it ends. */
import { type Fields, fieldsOf } from './messages.ts'
import type { InternalRequests } from './state/internal-requests.ts'

export type End = 'unforeseen' | 'stops' | 'makes room'

export class ServerUpgrade {
  readonly #version: string
  readonly #own: InternalRequests
  #waitsForRoom = false
  #end: End = 'unforeseen'

  /** `version` is ours. */
  constructor(version: string, own: InternalRequests) {
    this.#version = version
    this.#own = own
  }

  /** How the connection to the server ends if it ends now. */
  get end(): End {
    return this.#end
  }

  /** Nothing more may be asked: an older server has been asked to make room. */
  get waitsForRoom(): boolean {
    return this.#waitsForRoom
  }

  /** Whether a server that answers `initialize` so is older, and can be asked. */
  isDue(greeted: Fields): boolean {
    const version = versionIn(greeted)
    return version !== undefined && isOlder(version, this.#version)
  }

  /** What it is asked; `answered` gives what the client is told then. */
  ask(answered: (makesRoom: boolean) => Buffer): Buffer {
    this.#waitsForRoom = true
    return this.#own.line('_parley/stop', { ifIdle: true }, (response) => {
      this.#waitsForRoom = false
      if (response.result['stopping'] === true) this.#end = 'makes room'
      return answered(this.#end === 'makes room')
    })
  }

  /** The server has said that it ends. */
  stopping(): void {
    if (this.#end === 'unforeseen') this.#end = 'stops'
  }

  /** The connection is gone: how it was to end. */
  lose(): End {
    const end = this.#end
    this.#end = 'unforeseen'
    this.#waitsForRoom = false
    return end
  }
}

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
