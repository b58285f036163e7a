/** What people may type after a slash: commands of the agent, prompts of MCP servers, and prompt files. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { reasonOf } from '../../../errors/parley-error.ts'
import type { Content, SlashCommand } from '../../../ports/content.ts'
import type { ModelMessage } from '../../../ports/model.ts'
import type { PromptMessage, PromptTemplate } from '../../../ports/tools.ts'
import { readInside } from './instructions.ts'
import type { Work } from './work.ts'

export const OWN_COMMANDS: readonly SlashCommand[] = [
  { name: 'compact', description: 'Replace the older part of the context with a summary', hint: 'what to keep' },
  { name: 'tools', description: 'List the tools of this session and its MCP servers' },
]

/** A file of this name is the command of this name. */
const PROMPT_FILE = /^([A-Za-z0-9][\w-]{0,63})\.md$/u

export type Wish =
  | { readonly kind: 'own'; readonly name: string; readonly rest: string }
  | { readonly kind: 'messages'; readonly messages: readonly ModelMessage[] }
  | { readonly kind: 'advice'; readonly text: string }

interface PromptFile {
  readonly name: string
  readonly root: string
  readonly path: string
}

/** A prompt that begins with the name of no command is said as it is. */
export async function wishOf(work: Work): Promise<Wish> {
  const { prompt, tools } = work.turn
  const said: Wish = { kind: 'messages', messages: [{ role: 'user', content: prompt }] }
  const [first, ...others] = prompt
  const typed = first?.type === 'text' ? /^\/([\w-]+)(?:\s+([\s\S]*))?$/u.exec(first.text.trim()) : null
  if (typed === null) return said
  const [, name = '', rest = ''] = typed
  if (OWN_COMMANDS.some((own) => own.name === name)) return { kind: 'own', name, rest: rest.trim() }
  const template = tools.list().prompts.find((one) => one.name === name)
  if (template !== undefined) return fromServer(work, template, rest)
  const file = (await promptFiles(work)).find((one) => one.name === name)
  const text = file === undefined ? undefined : await readInside(file.root, file.path)
  if (text === undefined) return said
  return {
    kind: 'messages',
    messages: [{ role: 'user', content: [{ type: 'text', text: filled(text, rest) }, ...others] }],
  }
}

/** All that may be typed now. */
export async function commandsOf(work: Work): Promise<readonly SlashCommand[]> {
  const prompts = work.turn.tools.list().prompts.map(commandOf)
  const files = (await promptFiles(work)).map(({ name, path }) => ({ name, description: path, hint: 'arguments' }))
  const all = [...OWN_COMMANDS, ...prompts, ...files]
  return all.filter(({ name }, at) => all.findIndex((one) => one.name === name) === at)
}

function commandOf({ name, title, description, arguments: args }: PromptTemplate): SlashCommand {
  const hint = args.map((one) => (one.required ? one.name : `[${one.name}]`)).join(' ')
  const command = { name, description: description || title }
  return hint === '' ? command : { ...command, hint }
}

async function fromServer({ turn }: Work, template: PromptTemplate, rest: string): Promise<Wish> {
  const args = argumentsFor(template, rest.trim())
  const missing = template.arguments.filter(({ name, required }) => required && !(name in args))
  if (missing.length > 0) {
    const words = template.arguments.map(({ name }) => name).join(' ')
    return {
      kind: 'advice',
      text: `/${template.name} needs ${missing.map(({ name }) => name).join(' and ')}. Type: /${template.name} ${words}`,
    }
  }
  try {
    const said = await turn.tools.prompt(template.name, args, { signal: turn.signal })
    return { kind: 'messages', messages: said.map(messageOf) }
  } catch (error) {
    return { kind: 'advice', text: reasonOf(error) }
  }
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

function messageOf({ role, content }: PromptMessage): ModelMessage {
  if (role === 'user') return { role: 'user', content: [content] }
  return { role: 'assistant', parts: [{ kind: 'text', text: plain(content) }] }
}

function plain(content: Content): string {
  if (content.type === 'text') return content.text
  return content.type === 'resource' && 'text' in content.resource ? content.resource.text : `(${content.type})`
}

function filled(text: string, rest: string): string {
  const body = text.replace(/^---\n[\s\S]*?\n---\n/u, '').trim()
  if (body.includes('$ARGUMENTS')) return body.replaceAll('$ARGUMENTS', () => rest.trim())
  return rest.trim() === '' ? body : `${body}\n\n${rest.trim()}`
}

/** Those of the project come before those of the user. */
async function promptFiles({ turn, means }: Work): Promise<readonly PromptFile[]> {
  const places = turn.roots.map((root) => ({ root, directory: join(root, '.parley', 'prompts') }))
  const own =
    means.promptDirectory === undefined ? [] : [{ root: means.promptDirectory, directory: means.promptDirectory }]
  const found = await Promise.all([...places, ...own].map(filesIn))
  return found.flat()
}

async function filesIn({ root, directory }: { root: string; directory: string }): Promise<readonly PromptFile[]> {
  // Most directories have none.
  const names = await readdir(directory).catch(() => [])
  return names
    .toSorted((a, b) => (a < b ? -1 : 1))
    .flatMap((file) => {
      const name = PROMPT_FILE.exec(file)?.[1]
      return name === undefined ? [] : [{ name, root, path: join(directory, file) }]
    })
}
