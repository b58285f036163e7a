/** MCP servers that note all that they hear, for cases about tools. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Fields } from '../../e2e/message.ts'
import type { Stage } from './stage.ts'
import { Fault } from './verdict.ts'

const SCRIPT = fileURLToPath(new URL('../../fixtures/mcp/stdio-server.mjs', import.meta.url))

export interface Witness {
  /** As `mcpServers` wants it. */
  readonly entry: Fields
  /** What it was sent. */
  heard(): readonly Fields[]
  /** Resolves with the first message of this method. */
  hears(method: string): Promise<Fields>
}

/** `settings` are the server's own; `env` is what its entry names. */
export function witness(stage: Stage, name: string, { env = [], ...settings }: Settings = {}): Witness {
  const log = join(stage.directory, `${name}.jsonl`)
  const args = [SCRIPT, JSON.stringify({ name, log, ...settings })]
  const heard = (): readonly Fields[] => (existsSync(log) ? linesOf(readFileSync(log, 'utf8')) : [])
  return {
    entry: { name, command: process.execPath, args, env },
    heard,
    async hears(method) {
      const end = performance.now() + stage.patience
      for (;;) {
        const found = heard().find((message) => message['method'] === method)
        if (found !== undefined) return found
        if (performance.now() > end) throw new Fault(`the MCP server ${name} heard no ${method}`)
        await stage.a.anythingWithin(30)
      }
    },
  }
}

interface Settings extends Fields {
  readonly env?: readonly Fields[]
}

function linesOf(text: string): readonly Fields[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Fields)
}

/** A call of a tool that the agent makes by itself. */
export const callOf = (name: string, args: Fields = {}): Fields => ({ toolCall: { name, arguments: args } })
