/** Arguments as they fit the schema of a tool: what is sent to its server is what was checked. */
import type { JsonObject } from './json.ts'

type Fitted = { readonly args: JsonObject } | { readonly wrong: string }

type Check = (value: JsonObject) => Promise<string | undefined>

/** More nulls than any model writes are not looked at one by one. */
const MOST_NULLS = 32

/**
 * Models write null for what they have no value for. Where the schema takes a null it may mean something and stays; where it does not,
 * and the argument need not be there, it is left out.
 */
export async function fitted(args: JsonObject, { required }: JsonObject, check: Check): Promise<Fitted> {
  const first = await check(args)
  if (first === undefined) return { args }
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  const idle = Object.keys(args).filter((key) => args[key] === null && !needed.includes(key))
  if (idle.length === 0) return { wrong: first }
  const wrong = await check(without(args, idle))
  if (wrong !== undefined) return { wrong }
  const unfit = idle.length > MOST_NULLS ? idle : await unfitOf(args, idle, check)
  const kept = without(args, unfit)
  return { args: (await check(kept)) === undefined ? kept : without(args, idle) }
}

/** The nulls that the schema refuses, each looked at without the others. */
async function unfitOf(args: JsonObject, idle: readonly string[], check: Check): Promise<readonly string[]> {
  const unfit: string[] = []
  for (const key of idle) {
    const others = idle.filter((other) => other !== key)
    if ((await check(without(args, others))) !== undefined) unfit.push(key)
  }
  return unfit
}

function without(args: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([key]) => !keys.includes(key)))
}
