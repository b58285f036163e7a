/** A small piece of work for a model: files to begin with, what is asked, how it is known that it was done. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Saying } from '../model-server/script.ts'

export interface Task {
  readonly name: string
  readonly prompt: string
  /** Their paths are below the directory in which the agent works; `../` is beside it. */
  readonly files: Readonly<Record<string, string>>
  /** What a model that does it right says, step by step: proves that it can be done, and that the checker knows. */
  readonly solution: readonly (readonly Saying[])[]
  /** What is wrong, in sentences; nothing when it was done. */
  check(done: Done): readonly string[]
}

/** What came of it. */
export interface Done {
  readonly directory: string
  /** All that the agent said. */
  readonly answer: string
  readonly calls: readonly Called[]
  readonly stopReason: string
}

export interface Called {
  readonly name: string
  readonly title: string
  readonly status: string
}

export function says(done: Done, ...words: readonly (string | RegExp)[]): readonly string[] {
  return words.flatMap((word) => {
    const found = typeof word === 'string' ? done.answer.includes(word) : word.test(done.answer)
    return found ? [] : [`The answer does not say ${String(word)}.`]
  })
}

export function saysNot(done: Done, word: string): readonly string[] {
  return done.answer.includes(word) ? [`The answer gives ${word} away.`] : []
}

export function holds(done: Done, path: string, expected: string): readonly string[] {
  const text = textOf(done, path)
  return text === expected ? [] : [`${path} is ${text === undefined ? 'not there' : JSON.stringify(text)}.`]
}

export function holdsWord(done: Done, path: string, ...words: readonly (string | RegExp)[]): readonly string[] {
  const text = textOf(done, path)
  if (text === undefined) return [`${path} is not there.`]
  return words.flatMap((word) => {
    const found = typeof word === 'string' ? text.includes(word) : word.test(text)
    return found ? [] : [`${path} lacks ${String(word)}.`]
  })
}

export function isGone(done: Done, path: string): readonly string[] {
  return existsSync(join(done.directory, path)) ? [`${path} is there.`] : []
}

export function used(done: Done, ...names: readonly string[]): readonly string[] {
  const ran = new Set(done.calls.map(({ name }) => name))
  return names.some((name) => ran.has(name)) ? [] : [`None of ${names.join(', ')} was called.`]
}

export function textOf({ directory }: Done, path: string): string | undefined {
  const place = join(directory, path)
  return existsSync(place) ? readFileSync(place, 'utf8') : undefined
}

/** A call of a tool, as the scripted model writes it. */
export function call(name: string, args: Readonly<Record<string, unknown>>): Saying {
  return { call: name, args }
}

export function edit(path: string, ...edits: readonly (readonly [old_text: string, new_text: string])[]): Saying {
  return call('edit_file', { path, edits: edits.map(([old_text, new_text]) => ({ old_text, new_text })) })
}

export function read(path: string): Saying {
  return call('read_file', { path })
}

export function say(text: string): readonly Saying[] {
  return [{ text }]
}
