/** The agent out of the box: offline, not a model, and it says so. It answers from documents and runs any tool by name. */
import type { Agent, Resumption, StopReason, Turn } from '../../../ports/agent.ts'
import type { SlashCommand } from '../../../ports/content.ts'
import { answerQuestion } from './answer.ts'
import { readyTools } from '../ready-tools.ts'
import { type PromptIntent, parsePromptIntent } from './prompt-intent.ts'
import { goOn, runTool } from './run-tool.ts'
import { commandsOfServers, filledPrompt, showPrompt, typedIn } from '../server-prompts.ts'
import { toolsText } from '../tools-text.ts'

const HELP = `I am Parley's offline guide, not a language model. I search the documents of this directory for what you ask and show the passages that I find.

- Ask anything: \`How does a session survive a crash?\`
- \`/tools\` lists the tools of this session.
- \`/call NAME {"argument": "value"}\` runs one of them.`

const COMMANDS: readonly SlashCommand[] = [
  { name: 'tools', description: 'List the tools of this session and its MCP servers' },
  { name: 'call', description: 'Run a tool by its name', hint: 'NAME {"argument": "value"}' },
  { name: 'help', description: 'What the guide can do' },
]

export function openGuide(): Agent {
  return {
    capabilities: { commands: COMMANDS, settings: { modes: null, configOptions: [] } },
    commandsFor: async (tools) => [...COMMANDS, ...commandsOfServers(tools)],
    run,
    close: async () => undefined,
  }
}

async function run(turn: Turn): Promise<StopReason> {
  if (turn.resumed === undefined) await fulfil(turn, parsePromptIntent(turn.prompt))
  else await resume(turn, turn.resumed)
  return turn.signal.aborted ? 'cancelled' : 'end_turn'
}

/** The servers must be there again before what was allowed can run. */
async function resume(turn: Turn, resumed: Resumption): Promise<void> {
  await readyTools(turn)
  await goOn(turn, resumed)
}

async function fulfil(turn: Turn, wish: PromptIntent): Promise<void> {
  if (await showServerPrompt(turn)) return
  switch (wish.kind) {
    case 'help':
      return say(turn, HELP)
    case 'tools':
      return say(turn, toolsText(await readyTools(turn)))
    case 'call':
      return runTool(turn, await readyTools(turn), wish)
    case 'unclear':
      return say(turn, wish.advice)
    case 'question':
      return answerQuestion(turn, await readyTools(turn), wish.text)
  }
}

/** A prompt of an MCP server is for a model; without one, people read what it would have been told. */
async function showServerPrompt(turn: Turn): Promise<boolean> {
  const typed = typedIn(turn.prompt)
  if (typed === undefined || !typed.name.includes('__')) return false
  await readyTools(turn)
  const filled = await filledPrompt(turn, typed)
  if (filled !== undefined) await showPrompt(turn, filled)
  return filled !== undefined
}

function say(turn: Turn, text: string): Promise<void> {
  return turn.say({ type: 'text', text })
}
