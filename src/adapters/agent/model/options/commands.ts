/** Slash commands of the model agent: its own, prompts of MCP servers, and prompt files. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Content, SlashCommand } from '../../../../ports/values/content.ts'
import type { ModelMessage } from '../../../../ports/model.ts'
import type { PromptMessage, ToolList } from '../../../../ports/tools.ts'
import { commandsOfServers, filledPrompt, typedIn } from '../../server-prompts.ts'
import { isFileInside, readInside } from '../context/instructions.ts'
import type { ModelAgentDeps, TurnWork } from '../context/context.ts'

export const OWN_COMMANDS: readonly SlashCommand[] = [
  { name: 'compact', description: 'Replace the older part of the context with a summary', hint: 'what to keep' },
  { name: 'tools', description: 'List the tools of this session and its MCP servers' },
]

/** The file NAME.md is the command /NAME. */
const PROMPT_FILE = /^([A-Za-z0-9][\w-]{0,63})\.md$/u

/** Prompt files of one directory. Each is read and offered to every client, and a project may have any number of them. */
const MAX_PROMPT_FILES = 200

export type PromptIntent =
  | { readonly kind: 'own'; readonly name: string; readonly rest: string }
  | { readonly kind: 'messages'; readonly messages: readonly ModelMessage[] }
  | { readonly kind: 'advice'; readonly text: string }

/** The directory of the user's own prompt files. */
export type PromptPlaces = Pick<ModelAgentDeps, 'promptDirectory'>

interface PromptFile {
  readonly name: string
  readonly root: string
  readonly path: string
}

/** A prompt that does not begin with a known command is sent as it is. */
export async function promptIntentOf(work: TurnWork): Promise<PromptIntent> {
  const { prompt } = work.turn
  const said: PromptIntent = { kind: 'messages', messages: [{ role: 'user', content: prompt }] }
  const typed = typedIn(prompt)
  if (typed === undefined) return said
  const { name, rest } = typed
  if (isOwnCommand(prompt)) return { kind: 'own', name, rest }
  const filledBy = await filledPrompt(work.turn, typed)
  if (filledBy?.kind === 'advice') return filledBy
  if (filledBy !== undefined) return { kind: 'messages', messages: filledBy.messages.map(messageOf) }
  const file = (await promptFiles(work.turn.roots, work.deps)).find((one) => one.name === name)
  const text = file === undefined ? undefined : await textOf(file, work)
  if (text === undefined) return said
  return {
    kind: 'messages',
    messages: [{ role: 'user', content: [{ type: 'text', text: filled(text, rest) }, ...prompt.slice(1)] }],
  }
}

/** The user's own prompts are not in the project, so no rule on paths applies. */
async function textOf({ root, path }: PromptFile, { turn, deps: means }: TurnWork): Promise<string | undefined> {
  return readInside(path, {
    root,
    pathAccess: root === means.promptDirectory ? () => undefined : await turn.pathAccess(),
  })
}

/** Whether the command is handled by Parley and not sent to the model. */
export function isOwnCommand(prompt: readonly Content[]): boolean {
  const typed = typedIn(prompt)
  return typed !== undefined && OWN_COMMANDS.some(({ name }) => name === typed.name)
}

/** All slash commands of this moment. */
export async function commandsFor(
  list: Pick<ToolList, 'prompts'>,
  roots: readonly string[],
  places: PromptPlaces,
): Promise<readonly SlashCommand[]> {
  const files = await promptFiles(roots, places)
  const all = [
    ...OWN_COMMANDS,
    ...commandsOfServers(list),
    ...files.map(({ name, path }) => ({ name, description: path, hint: 'arguments' })),
  ]
  return all.filter(({ name }, at) => all.findIndex((one) => one.name === name) === at)
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

/** A user's file replaces a project's file of the same name. A link that leads out of its root is neither read nor offered. */
async function promptFiles(
  roots: readonly string[],
  { promptDirectory }: PromptPlaces,
): Promise<readonly PromptFile[]> {
  const places = roots.map((root) => ({ root, directory: join(root, '.parley', 'prompts') }))
  const own = promptDirectory === undefined ? [] : [{ root: promptDirectory, directory: promptDirectory }]
  const found = await Promise.all([...own, ...places].map(filesIn))
  return found.flat()
}

async function filesIn({ root, directory }: { root: string; directory: string }): Promise<readonly PromptFile[]> {
  // Most directories have none.
  const names = await readdir(directory).catch(() => [])
  const files = names
    .toSorted((a, b) => (a < b ? -1 : 1))
    .flatMap((file) => {
      const name = PROMPT_FILE.exec(file)?.[1]
      return name === undefined ? [] : [{ name, root, path: join(directory, file) }]
    })
    .slice(0, MAX_PROMPT_FILES)
  const isThere = await Promise.all(files.map(({ path }) => isFileInside(root, path)))
  return files.filter((_file, at) => isThere[at])
}
