/** Waits for MCP servers that are still connecting and says so, then continues without them (docs/internals/guarantees.md, 9). */
import type { Turn } from '../../ports/agent.ts'
import type { ToolList } from '../../ports/tools.ts'

const TOOLS_TIMEOUT_MS = 10_000

export async function readyTools(turn: Turn): Promise<ToolList> {
  const connecting = namesOf(turn.tools.list(), 'connecting')
  if (connecting.length > 0) await think(turn, `Waiting for ${connecting.join(', ')} to connect…`)
  const list = await turn.tools.ready(TOOLS_TIMEOUT_MS, turn.signal)
  const late = namesOf(list, 'connecting')
  if (late.length > 0 && !turn.signal.aborted) {
    await think(turn, `Going on without ${late.join(', ')}: still connecting.`)
  }
  return list
}

function namesOf(list: ToolList, state: ToolList['servers'][number]['state']): readonly string[] {
  return list.servers.filter((server) => server.state === state).map((server) => server.name)
}

function think(turn: Turn, text: string): Promise<void> {
  return turn.think({ type: 'text', text })
}
