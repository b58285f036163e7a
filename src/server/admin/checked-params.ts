/** The parameters of one request about the server itself. Each accessor throws PARAMS_INVALID. */
import { isAbsolute } from 'node:path'
import { type Role, ROLES, isRole } from '../../credentials/roles.ts'
import { type Scope, isScope } from '../../credentials/scope.ts'
import { fail } from '../../errors/parley-error.ts'
import type { Fields } from '../../rpc/json-rpc.ts'

export class Checked {
  readonly #method: string
  readonly #fields: Fields

  constructor(method: string, params: unknown) {
    this.#method = method
    this.#fields = fieldsIn(params)
  }

  text(key: string): string | undefined {
    const value = this.#fields[key] ?? undefined
    if (value !== undefined && typeof value !== 'string') return this.refuse(`${key} must be a text`)
    // Half a character can be written to no file.
    return value === undefined || !/\p{Surrogate}/u.test(value) ? value : this.refuse(`${key} is not valid Unicode`)
  }

  required(key: string): string {
    return this.text(key) ?? this.refuse(`${key} must be a text`)
  }

  /** An absolute path of the server's machine. */
  directory(key: string): string {
    const path = this.required(key)
    return isAbsolute(path) ? path : this.refuse(`${key} must be an absolute path on the server's machine`)
  }

  /** False where it is absent. */
  flag(key: string): boolean {
    const value = this.#fields[key] ?? false
    return typeof value === 'boolean' ? value : this.refuse(`${key} must be true or false`)
  }

  /** A whole number from 0 to `most`. */
  count(key: string, usual: number, most: number): number {
    const value = this.#fields[key] ?? usual
    const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most
    return isCount ? value : this.refuse(`${key} must be a whole number from 0 to ${most}`)
  }

  table(key: string): Fields {
    const value = this.#fields[key]
    const isTable = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isTable ? (value as Fields) : this.refuse(`${key} must be an object`)
  }

  texts(key: string): readonly string[] {
    const value = this.#fields[key] ?? []
    const areTexts = Array.isArray(value) && value.every((one) => typeof one === 'string')
    return areTexts ? value : this.refuse(`${key} must be a list of texts`)
  }

  /** An object of texts; empty where it is absent. */
  strings(key: string): Readonly<Record<string, string>> {
    if ((this.#fields[key] ?? undefined) === undefined) return {}
    const table = this.table(key)
    const areTexts = Object.values(table).every((one) => typeof one === 'string')
    return areTexts ? (table as Readonly<Record<string, string>>) : this.refuse(`${key} must have texts`)
  }

  role(usual?: Role): Role {
    const { role = usual } = this.#fields
    return isRole(role) ? role : this.refuse(`role must be ${ROLES.slice(0, -1).join(', ')} or ${ROLES.at(-1)}`)
  }

  scope(): Scope {
    const { scope = 'all' } = this.#fields
    return isScope(scope) ? scope : this.refuse('scope must be "all", or have sessions or directories')
  }

  tools(): boolean {
    const { tools = true } = this.#fields
    return typeof tools === 'boolean' ? tools : this.refuse('tools must be true or false')
  }

  hours(usual: number): number {
    const { hours = usual } = this.#fields
    const isTime = typeof hours === 'number' && hours > 0 && hours <= 30 * 24
    return isTime ? hours : this.refuse('hours must be a number above 0, up to 720')
  }

  refuse(reason: string): never {
    return fail('PARAMS_INVALID', { method: this.#method, reason })
  }
}

function fieldsIn(params: unknown): Fields {
  return (typeof params === 'object' && params !== null ? params : {}) as Fields
}
