/** Prompts of MCP servers as commands that people type: `/server__prompt words`. */
import { reasonOf } from '../../errors/parley-error.ts'
import type { Turn } from '../../ports/agent.ts'
import type { Content, SlashCommand } from '../../ports/content.ts'
import type { PromptMessage, PromptTemplate, ToolList } from '../../ports/tools.ts'

export type Typed = { readonly name: string; readonly rest: string }

/** What a server makes of a prompt that somebody typed, or what is wrong with it. */
export type FilledPrompt =
  | { readonly kind: 'messages'; readonly messages: readonly PromptMessage[] }
  | { readonly kind: 'advice'; readonly text: string }

/** The name and the words of a prompt that is a command, whether or not there is one of that name. */
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

/** Undefined where no server of the session has a prompt of this name. */
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

/** Words in the order of the arguments; the last one takes what is left. */
function argumentsFor({ arguments: wanted }: PromptTemplate, rest: string): Readonly<Record<string, string>> {
  const words = rest === '' ? [] : rest.split(/\s+/u)
  const given = wanted.flatMap(({ name }, at): readonly (readonly [string, string])[] => {
    const isLast = at === wanted.length - 1
    const value = isLast ? words.slice(at).join(' ') : (words[at] ?? '')
    return value === '' ? [] : [[name, value]]
  })
  return Object.fromEntries(given)
}

/** For people: what the server would have said to a model. */
export async function showPrompt(turn: Turn, filled: FilledPrompt): Promise<void> {
  if (filled.kind === 'advice') return turn.say({ type: 'text', text: filled.text })
  for (const { content } of filled.messages) await turn.say(content)
}
