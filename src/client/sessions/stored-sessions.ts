/** A Parley server's methods about sessions that need not be open here. Results are read as far as they are well formed. */
import { fieldsOf, type Fields } from '../../rpc/json-rpc.ts'
import { type UpdateParams, updateIn } from '../incoming/updates.ts'
import type { Resolved } from '../transcript/items.ts'

export interface SessionPage {
  readonly updates: readonly UpdateParams[]
  /** How permission requests of this part ended. */
  readonly resolved: readonly Resolved[]
  /** Ask for what comes before this entry. */
  readonly from: number
  /** Something does. */
  readonly more: boolean
}

/** `counted`: it was this answer. Else `outcome` is the one that was first. */
export interface CountedAnswer {
  readonly counted: boolean
  readonly outcome: Resolved['outcome']
  readonly by?: string
}

export interface OutlinePrompt {
  readonly seq: number
  readonly at: number
  readonly turn: string
  readonly by?: string
  readonly text: string
}

export function pageIn({ updates, resolved, from, more }: Fields): SessionPage {
  return {
    updates: listOf(updates).flatMap((one) => updateIn(one) ?? []),
    resolved: listOf(resolved).flatMap((one) => resolvedIn(one) ?? []),
    from: typeof from === 'number' ? from : 1,
    more: more === true,
  }
}

export function resolvedIn(value: unknown): Resolved | undefined {
  const { requestId, toolCallId, outcome, by, at } = fieldsOf(value)
  if (typeof requestId !== 'string' || typeof toolCallId !== 'string') return undefined
  return { requestId, toolCallId, outcome: outcomeIn(outcome), ...named(by), ...(typeof at === 'number' && { at }) }
}

export function countedIn({ counted, outcome, by }: Fields): CountedAnswer {
  return { counted: counted === true, outcome: outcomeIn(outcome), ...named(by) }
}

export function outlineIn({ prompts }: Fields): readonly OutlinePrompt[] {
  return listOf(prompts).flatMap((one) => {
    const { seq, at, turn, by, text } = fieldsOf(one)
    if (typeof seq !== 'number') return []
    return [
      { seq, at: typeof at === 'number' ? at : 0, turn: textOrEmpty(turn), text: textOrEmpty(text), ...named(by) },
    ]
  })
}

interface ExportPage {
  readonly lines: readonly string[]
  /** Ask for what comes after this entry. */
  readonly seq: number
  readonly more: boolean
  readonly lastSeq: number
}

export function exportIn({ lines, seq, more, lastSeq }: Fields): ExportPage {
  const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0)
  return { lines: listOf(lines).map(textOrEmpty), seq: numberOf(seq), more: more === true, lastSeq: numberOf(lastSeq) }
}

export interface FoundFiles {
  /** Each with its path, and its name from the session's directory on. */
  readonly files: readonly { readonly path: string; readonly name: string }[]
  /** False while a large directory is still being read. */
  readonly isComplete: boolean
  /** How old what the server knows of the directories is, in milliseconds. */
  readonly age: number
}

export function filesIn({ files, complete, age }: Fields): FoundFiles {
  const found = listOf(files).flatMap((one) => {
    const { path, name } = fieldsOf(one)
    return typeof path === 'string' ? [{ path, name: textOrEmpty(name) || path }] : []
  })
  return { files: found, isComplete: complete !== false, age: typeof age === 'number' ? age : 0 }
}

export interface AgentChoices {
  /** Of a session for which none is named. */
  readonly default: string
  /** Besides those that are part of Parley. */
  readonly agents: readonly AgentChoice[]
}

export interface AgentChoice {
  readonly name: string
  readonly title: string
  readonly needsLogin: boolean
  /** It can be started. */
  readonly isReady: boolean
}

export function agentsIn({ default: usual, agents }: Fields): AgentChoices {
  const choices = listOf(agents).flatMap((one): AgentChoice | [] => {
    const { name, title, login, reason } = fieldsOf(one)
    if (typeof name !== 'string') return []
    return { name, title: textOrEmpty(title) || name, needsLogin: login === 'needed', isReady: reason === undefined }
  })
  return { default: textOrEmpty(usual), agents: choices }
}

export function directoriesIn({ directories }: Fields): readonly string[] {
  return listOf(directories)
    .map((one) => textOrEmpty(fieldsOf(one)['path']))
    .filter((path) => path !== '')
}

function outcomeIn(value: unknown): Resolved['outcome'] {
  const { outcome, optionId, kind } = fieldsOf(value)
  return {
    outcome: textOrEmpty(outcome),
    ...(typeof optionId === 'string' && { optionId }),
    ...(typeof kind === 'string' && { kind }),
  }
}

function named(by: unknown): { readonly by?: string } {
  return typeof by === 'string' ? { by } : {}
}

function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
