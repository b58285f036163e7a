/** The agent that works without a model: offline, it answers from documents and runs any tool by its name. */
import type { Agent, Resumption, StopReason, Turn } from '../../../ports/agent.ts'
import { reasonOf } from '../../../errors/parley-error.ts'
import type { Content, SlashCommand } from '../../../ports/values/content.ts'
import { isNestedDeeper } from '../../../text/nesting.ts'
import { answerQuestion } from './answer-question.ts'
import { readyTools } from '../ready-tools.ts'
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
  if (turn.resumed === undefined) await answer(turn, parsePromptIntent(turn.prompt))
  else await resume(turn, turn.resumed)
  return turn.signal.aborted ? 'cancelled' : 'end_turn'
}

/** The servers must be connected again before an allowed call can run. */
async function resume(turn: Turn, resumed: Resumption): Promise<void> {
  await readyTools(turn)
  await goOn(turn, resumed)
}

async function answer(turn: Turn, intent: PromptIntent): Promise<void> {
  if (await showServerPrompt(turn)) return
  switch (intent.kind) {
    case 'help':
      return say(turn, HELP)
    case 'tools':
      return say(turn, toolsText(await readyTools(turn)))
    case 'call':
      return runTool(turn, await readyTools(turn), intent)
    case 'unclear':
      return say(turn, intent.advice)
    case 'question':
      return answerQuestion(turn, await readyTools(turn), intent.text)
  }
}

/** A prompt of an MCP server is meant for a model; without one, the user reads its messages. */
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

/** The user's request to the guide. */
type PromptIntent =
  | { readonly kind: 'help' }
  | { readonly kind: 'tools' }
  | { readonly kind: 'call'; readonly name: string; readonly args: unknown }
  | { readonly kind: 'question'; readonly text: string }
  /** A command that cannot be run as it was typed. */
  | { readonly kind: 'unclear'; readonly advice: string }

function parsePromptIntent(prompt: readonly Content[]): PromptIntent {
  const text = prompt
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n')
    .trim()
  const [, command = '', argument] = /^(\S*)(?:\s+(\S+))?/u.exec(text) ?? []
  switch (command) {
    case '':
    case '/help':
      return { kind: 'help' }
    case '/tools':
      return { kind: 'tools' }
    case '/call':
      return parseCall(text.slice(command.length).trim(), argument)
    default:
      return command.startsWith('/') && argument === undefined && /^\/[a-z]+$/u.test(command)
        ? { kind: 'unclear', advice: `There is no command ${command}. Type /help to see what there is.` }
        : { kind: 'question', text }
  }
}

/** Clients can read JSON up to this depth. */
const MAX_ARGUMENT_DEPTH = 100

function parseCall(rest: string, name: string | undefined): PromptIntent {
  if (name === undefined)
    return { kind: 'unclear', advice: 'Name a tool: `/call NAME {"argument": "value"}`. /tools lists them.' }
  const json = rest.slice(name.length).trim()
  try {
    const args: unknown = json === '' ? {} : JSON.parse(json)
    if (!isNestedDeeper(args, MAX_ARGUMENT_DEPTH)) return { kind: 'call', name, args }
    return {
      kind: 'unclear',
      advice: `The arguments of ${name} are nested more than ${MAX_ARGUMENT_DEPTH} levels deep.`,
    }
  } catch (error) {
    return { kind: 'unclear', advice: `The arguments of ${name} are not valid JSON: ${reasonOf(error)}.` }
  }
}
