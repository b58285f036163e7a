/** Prompts of MCP servers as slash commands: `/server__prompt words`. */
import { reasonOf } from '../../errors/parley-error.ts'
import type { Turn } from '../../ports/agent.ts'
import type { Content, SlashCommand } from '../../ports/values/content.ts'
import type { PromptMessage, PromptTemplate, ToolList } from '../../ports/tools.ts'

export type Typed = { readonly name: string; readonly rest: string }

/** The messages that a server makes of a typed prompt, or advice if it cannot be filled in. */
export type FilledPrompt =
  | { readonly kind: 'messages'; readonly messages: readonly PromptMessage[] }
  | { readonly kind: 'advice'; readonly text: string }

/** The name and the arguments of a prompt that is a slash command, whether or not such a command exists. */
export function typedIn([first]: readonly Content[]): Typed | undefined {
  const typed = first?.type === 'text' ? /^\/([\w-]+)(?:\s+([\s\S]*))?$/u.exec(first.text.trim()) : null
  return typed === null ? undefined : { name: typed[1] ?? '', rest: (typed[2] ?? '').trim() }
}

export function commandsOfServers({ prompts }: Pick<ToolList, 'prompts'>): readonly SlashCommand[] {
  return prompts.map(({ name, title, description, arguments: args }) => {
    const hint = args.map((one) => (one.required ? one.name : `[${one.name}]`)).join(' ')
    const command = { name, description: description || title }
    return hint === '' ? command : { ...command, hint }
  })
}

/** Undefined if no server of the session has a prompt of this name. */
export async function filledPrompt({ tools, signal }: Turn, { name, rest }: Typed): Promise<FilledPrompt | undefined> {
  const template = tools.list().prompts.find((one) => one.name === name)
  if (template === undefined) return undefined
  const args = argumentsFor(template, rest)
  const missing = template.arguments.filter((one) => one.required && !(one.name in args))
  if (missing.length > 0)
    return {
      kind: 'advice',
      text: usage(
        template,
        missing.map((one) => one.name),
      ),
    }
  try {
    return { kind: 'messages', messages: await tools.prompt(name, args, { signal }) }
  } catch (error) {
    return { kind: 'advice', text: reasonOf(error) }
  }
}

function usage({ name, arguments: all }: PromptTemplate, missing: readonly string[]): string {
  return `/${name} needs ${missing.join(' and ')}. Type: /${name} ${all.map((one) => one.name).join(' ')}`
}

/** One word for each argument, in order; the last argument gets the rest. */
function argumentsFor({ arguments: wanted }: PromptTemplate, rest: string): Readonly<Record<string, string>> {
  const words = rest === '' ? [] : rest.split(/\s+/u)
  const given = wanted.flatMap(({ name }, at): readonly (readonly [string, string])[] => {
    const isLast = at === wanted.length - 1
    const value = isLast ? words.slice(at).join(' ') : (words[at] ?? '')
    return value === '' ? [] : [[name, value]]
  })
  return Object.fromEntries(given)
}

/** Shows the user the messages that a model would get. */
export async function showPrompt(turn: Turn, filled: FilledPrompt): Promise<void> {
  if (filled.kind === 'advice') return turn.say({ type: 'text', text: filled.text })
  for (const { content } of filled.messages) await turn.say(content)
}
