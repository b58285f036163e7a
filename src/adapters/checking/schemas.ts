/** Checks what goes to a server's tools and what comes from them against the schemas of that server. */
import { reasonOf } from '../../errors/parley-error.ts'
import type { JsonObject } from './json.ts'
import { isCheapCheck, isCheapSchema, sizeOf } from './cheap.ts'
import { type Checker, CheckTooLong } from './checker.ts'
import { compileSchema, type SchemaCheck } from './schema.ts'

/** A larger value is passed on unchecked: to copy it to a thread would take too long by itself. Parts, or 64 characters. */
const LARGEST_VALUE = 100_000
/** After so many schemas that took too long, the other costly ones of that server are not tried any more. */
const MOST_SLOW_SCHEMAS = 3

let lastKey = 0

/** The schemas of one server. */
export class Schemas {
  readonly #checker: Checker
  readonly #onFault: (what: string, fault: string) => void
  readonly #known = new WeakMap<JsonObject, KnownSchema>()
  #slow = 0

  /** `onFault` is called once for each schema that is wrong itself or takes too long; such a schema lets every value pass. */
  constructor(checker: Checker, onFault: (what: string, fault: string) => void) {
    this.#checker = checker
    this.#onFault = onFault
  }

  /** What is wrong with `value`, or undefined when nothing is or the schema cannot say. */
  async check(schema: JsonObject, value: unknown, what: string): Promise<string | undefined> {
    const known = this.#known.get(schema) ?? this.#meet(schema, what)
    if (known.inline !== undefined && isCheapCheck(schema, value)) return known.inline(value)
    if (known.isGivenUp || this.#slow >= MOST_SLOW_SCHEMAS) return undefined
    if (sizeOf(value, { limit: LARGEST_VALUE, textStep: 64 }) > LARGEST_VALUE) return undefined
    try {
      const { wrong, fault } = await this.#checker.checkSchema({ key: known.key, schema, value }, this)
      if (fault !== undefined) this.#tell(known, what, fault)
      return wrong
    } catch (error) {
      this.#failed(known, what, error)
      return undefined
    }
  }

  #meet(schema: JsonObject, what: string): KnownSchema {
    lastKey += 1
    const known: KnownSchema = { key: lastKey, inline: undefined, isGivenUp: false, isTold: false }
    this.#known.set(schema, known)
    if (!isCheapSchema(schema)) return known
    const { check, fault } = compileSchema(schema)
    if (fault !== undefined) this.#tell(known, what, fault)
    known.inline = check
    return known
  }

  #failed(known: KnownSchema, what: string, error: unknown): void {
    if (error instanceof CheckTooLong) {
      if (error.isOwnFault) this.#slow += 1
      known.isGivenUp = error.isOwnFault
      return this.#tell(known, what, `it could not be checked in time: ${error.message}`)
    }
    known.isGivenUp = true
    this.#tell(known, what, reasonOf(error))
  }

  #tell(known: KnownSchema, what: string, fault: string): void {
    if (!known.isTold) this.#onFault(what, fault)
    known.isTold = true
  }
}

interface KnownSchema {
  /** What the threads call it. */
  readonly key: number
  inline: SchemaCheck | undefined
  isGivenUp: boolean
  isTold: boolean
}
