/** What a row of the requirements on an MCP host is, and what holds it. */

/** A test by its file and a part of its name, or a scenario of the official suite. */
export type Proof = readonly [file: string, name: string] | { readonly scenario: string }

export interface Row {
  readonly id: string
  /** What is asked of the host, in a few words. */
  readonly asks: string
  readonly held: readonly Proof[]
  /** Why nothing holds it, where nothing does. */
  readonly because?: string
}

export function row(id: string, asks: string, ...held: readonly Proof[]): Row {
  return { id, asks, held }
}

export function excused(id: string, asks: string, because: string, ...held: readonly Proof[]): Row {
  return { id, asks, held, because }
}

export const official = (scenario: string): Proof => ({ scenario })
export const within =
  (file: string) =>
  (name: string): Proof => [file, name]

export const stdio = within('test/torture/stdio.test.ts')
export const http = within('test/torture/http.test.ts')
export const sse = within('test/torture/sse.test.ts')
export const newest = within('test/torture/http-newest.test.ts')
export const lists = within('test/torture/list.test.ts')
export const calls = within('test/torture/call.test.ts')
export const logins = within('src/adapters/mcp/oauth/logins.test.ts')
export const sharing = within('src/adapters/tool-registry/sharing.test.ts')
