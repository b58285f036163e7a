/** Removes needless nulls from a tool's arguments, so that they match its schema. The server gets what was checked. */
import type { JsonObject } from './json.ts'

type CoercedArguments = { readonly args: JsonObject } | { readonly wrong: string }

type Check = (value: JsonObject) => Promise<string | undefined>

/** More nulls are all removed, without checking each. */
const MAX_NULLS = 32

/**
 * Models write null where they have no value. A null that the schema accepts may have a meaning and stays; one that it rejects is
 * removed if the argument is optional.
 */
export async function coerceArguments(
  args: JsonObject,
  { required }: JsonObject,
  check: Check,
): Promise<CoercedArguments> {
  const first = await check(args)
  if (first === undefined) return { args }
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  const nulls = Object.keys(args).filter((key) => args[key] === null && !needed.includes(key))
  if (nulls.length === 0) return { wrong: first }
  const wrong = await check(without(args, nulls))
  if (wrong !== undefined) return { wrong }
  const rejected = nulls.length > MAX_NULLS ? nulls : await rejectedNulls(args, nulls, check)
  const kept = without(args, rejected)
  return { args: (await check(kept)) === undefined ? kept : without(args, nulls) }
}

/** The nulls that the schema rejects, each checked without the others. */
async function rejectedNulls(args: JsonObject, nulls: readonly string[], check: Check): Promise<readonly string[]> {
  const rejected: string[] = []
  for (const key of nulls) {
    const others = nulls.filter((other) => other !== key)
    if ((await check(without(args, others))) !== undefined) rejected.push(key)
  }
  return rejected
}

function without(args: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([key]) => !keys.includes(key)))
}
