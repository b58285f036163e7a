/** What a prompt to the guide asks for. */
import { reasonOf } from '../../../errors/parley-error.ts'
import type { Content } from '../../../ports/content.ts'
import { isNestedDeeper } from '../../../text/nesting.ts'

export type PromptIntent =
  | { readonly kind: 'help' }
  | { readonly kind: 'tools' }
  | { readonly kind: 'call'; readonly name: string; readonly args: unknown }
  | { readonly kind: 'question'; readonly text: string }
  /** A command that cannot be carried out as it stands. */
  | { readonly kind: 'unclear'; readonly advice: string }

export function parsePromptIntent(prompt: readonly Content[]): PromptIntent {
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

/** As deep as a client can read them in a line of JSON. */
const DEEPEST = 100

function parseCall(rest: string, name: string | undefined): PromptIntent {
  if (name === undefined)
    return { kind: 'unclear', advice: 'Name a tool: `/call NAME {"argument": "value"}`. /tools lists them.' }
  const json = rest.slice(name.length).trim()
  try {
    const args: unknown = json === '' ? {} : JSON.parse(json)
    if (!isNestedDeeper(args, DEEPEST)) return { kind: 'call', name, args }
    return { kind: 'unclear', advice: `The arguments of ${name} are nested more than ${DEEPEST} levels deep.` }
  } catch (error) {
    return { kind: 'unclear', advice: `The arguments of ${name} are not valid JSON: ${reasonOf(error)}.` }
  }
}
