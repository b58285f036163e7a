/** A fake agent as a test sees it: its folder with case, log and memory, and the command that starts a process of it. */
import { appendFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runs, until } from '../fixtures/process/running.ts'
import type { Case, LogLine } from './case.ts'

export const PROGRAM = fileURLToPath(new URL('agent.mjs', import.meta.url))

/** Those that are played in the process of the tests, by the numbers that stand for their processes, and how to kill them. */
export const hosted = new Map<number, () => void>()

export class FakeAgent {
  readonly home: string
  readonly command = process.execPath
  readonly args: readonly string[]

  constructor(home: string, plan: Case = {}) {
    this.home = home
    this.args = [PROGRAM, home]
    mkdirSync(join(home, 'gates'), { recursive: true })
    this.becomes(plan)
  }

  /** From its next process on. */
  becomes(plan: Case): void {
    writeFileSync(join(this.home, 'case.json'), JSON.stringify(plan))
  }

  get log(): readonly LogLine[] {
    // The last line may be half written.
    const lines = textOf(join(this.home, 'log.jsonl')).split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line) as LogLine)
  }

  /** The params of each such message, in order, from all its processes. */
  received(method: string): readonly Readonly<Record<string, unknown>>[] {
    return this.log.flatMap(({ got }) => (got?.method === method ? [got.params ?? {}] : []))
  }

  /** The last text of each prompt that it received. */
  get prompts(): readonly string[] {
    return this.received('session/prompt').map(
      ({ prompt }) => (prompt as readonly { text: string }[]).at(-1)?.text ?? '',
    )
  }

  /** Those that run, its grandchildren with them. */
  get processes(): readonly number[] {
    const all = this.log.flatMap(({ pid, start, grandchild }) => (start === undefined ? (grandchild ?? []) : pid))
    return [...new Set(all)].filter((pid) => hosted.has(pid) || runs(pid))
  }

  until(fits: (line: LogLine) => boolean): Promise<void> {
    return until(() => this.log.some(fits))
  }

  open(gate: string): void {
    writeFileSync(join(this.home, 'gates', gate), '')
  }

  get sessions(): readonly string[] {
    const names = readdirSync(join(this.home, 'sessions'))
    return names.flatMap((name) => /^(.+)\.jsonl$/u.exec(name)?.[1] ?? []).toSorted()
  }

  /** A turn that its user made with another tool of it. */
  turnOutside(session: string, prompt: string, answer: string | { readonly text: string; readonly messageId: string }) {
    const at = new Date().toISOString()
    const { text, ...about } = typeof answer === 'string' ? { text: answer } : answer
    const content = { type: 'text', text }
    const lines = [
      { prompt: [{ type: 'text', text: prompt }], at },
      { update: { sessionUpdate: 'agent_message_chunk', content, ...about } },
      { end: true, at },
    ]
    appendFileSync(this.#memoryOf(session), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }

  /** Its memory of these last turns is gone. */
  forgetTurns(session: string, count: number): void {
    const [first = '', ...lines] = readFileSync(this.#memoryOf(session), 'utf8').trim().split('\n')
    const prompts = lines.flatMap((line, at) => ('prompt' in (JSON.parse(line) as object) ? [at] : []))
    const kept = lines.slice(0, prompts.at(-count) ?? 0)
    writeFileSync(this.#memoryOf(session), [first, ...kept].map((line) => `${line}\n`).join(''))
  }

  /** It had not stored yet what it said to this prompt. */
  forgetAnswer(session: string, prompt: string): void {
    const lines = readFileSync(this.#memoryOf(session), 'utf8').trim().split('\n')
    let isOf = false
    const kept = lines.filter((line) => {
      const { prompt: blocks } = JSON.parse(line) as { readonly prompt?: readonly { readonly text: string }[] }
      if (blocks !== undefined) isOf = blocks.at(-1)?.text === prompt
      return !isOf || !line.startsWith('{"update"')
    })
    writeFileSync(this.#memoryOf(session), kept.map((line) => `${line}\n`).join(''))
  }

  #memoryOf(session: string): string {
    return join(this.home, 'sessions', `${session}.jsonl`)
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It never ran.
    return ''
  }
}
