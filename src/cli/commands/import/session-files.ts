/** `parley import --from TOOL`: lists the sessions in the files of another tool, and imports them. Its files stay as they are. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { agentName } from '../../../config/agent-choice.ts'
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import { Secrets, systemClock } from '../../../server/compose/agent-catalogue.ts'
import { importedIdOf, withExport } from '../../../server/import/session-files/as-export.ts'
import type { FileSession } from '../../../server/import/session-files/file-session.ts'
import {
  type ForeignTool,
  folderOf,
  readSession,
  sessionFiles,
  titles,
  tools,
} from '../../../server/import/session-files/find.ts'
import { startServer } from '../../../server/launch/launch.ts'
import { openReader } from '../../../server/offline/offline-sessions.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import { progressLine } from '../../output/progress-line.ts'
import { oneLine } from '../../output/terminal/text.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { noDisplay, workWith } from '../../connect/with-client.ts'
import { importAt } from './import-at.ts'
import { complain } from '../../say.ts'

type Config = Awaited<ReturnType<typeof configFor>>

/** With `--json`: one line for each session that is listed, imported or skipped. */
export async function run({ args: [given], options }: CommandInput): Promise<number> {
  const tool = toolOf(options)
  const isWanted = options['all'] === true || given !== undefined
  if (options['all'] === true && given !== undefined) return failOption('--all', 'name a path or take all, not both')
  const config = await configFor()
  const place = { home: homedir(), environment: config.environment, cwd: process.cwd() }
  const folder = given === undefined ? folderOf(tool, place) : resolve(given)
  const progress = progressLine(process.stderr)
  try {
    const files = given === undefined && !existsSync(folder) ? [] : await sessionFiles(tool, folder)
    if (files.length > 0 && isWanted && config.server === undefined)
      await startServer({ ...config, program: process.argv[1] ?? '' }, (sentence) => progress.say(sentence))
    const known = await knownIds(config)
    const reporter = options['json'] === true ? new JsonReport() : new TextReport()
    const importing = new Importing({ tool, config, known, reporter, progress })
    for (const [index, path] of files.entries()) {
      progress.say(`${isWanted ? 'Importing' : 'Reading'} ${index + 1} of ${files.length} …`)
      await importing.one(path, { isWanted, read: () => readSession(tool, path, place) })
    }
    progress.done()
    reporter.end({ isWanted, place: `${titles[tool]} has no sessions in ${oneLine(folder, 200)}.` })
    return isWanted && importing.failures > 0 ? FAILED : OK
  } finally {
    progress.done()
  }
}

function toolOf(options: CommandInput['options']): ForeignTool {
  const tool = tools.find((one) => one === options['from'])
  if (options['keepId'] === true) return failOption('--keep-id', 'it goes with a file that Parley exported')
  return tool ?? failOption('--from', `it must be one of ${tools.join(', ')}`, String(options['from']))
}

function failOption(key: string, reason: string, value = 'set'): never {
  return fail('CONFIG_INVALID', { key, value, reason })
}

async function knownIds(config: Config): Promise<Set<string>> {
  const ids = new Set<string>()
  if (config.server !== undefined) {
    await workWith({ config, embedded: false }, noDisplay, async ({ client }) => {
      for await (const { sessionId } of client.sessions()) ids.add(sessionId)
      return OK
    })
    return ids
  }
  const reader = await openReader(config)
  try {
    for await (const { sessionId } of reader.list()) ids.add(sessionId)
  } finally {
    await reader.close()
  }
  return ids
}

interface Parts {
  readonly tool: ForeignTool
  readonly config: Config
  /** The ids of the sessions here. */
  readonly known: Set<string>
  readonly reporter: JsonReport | TextReport
  readonly progress: ReturnType<typeof progressLine>
}

interface One {
  readonly isWanted: boolean
  readonly read: () => Promise<FileSession>
}

class Importing {
  failures = 0
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** One that cannot be read does not keep the others from being imported. */
  async one(file: string, { isWanted, read }: One): Promise<void> {
    const { tool, known, reporter, progress } = this.#parts
    try {
      const session = await read()
      const { id, cwd, title, updatedAt } = session
      const sessionId = importedIdOf(tool, id)
      const isHere = known.has(sessionId)
      const isEmpty = session.turns.every(({ prompt }) => prompt.length === 0)
      progress.done()
      if (isWanted && isHere) reporter.skipped({ file, id, sessionId, why: 'here' })
      else if (isEmpty) reporter.skipped({ file, id, why: 'empty' })
      else if (isWanted) {
        await this.#take(session, sessionId)
        reporter.imported({ file, id, sessionId, turns: session.turns.length })
      } else {
        const named = title ?? firstWords(session)
        reporter.listed({ file, id, cwd, title: named, isHere, ...(updatedAt !== undefined && { updatedAt }) })
      }
    } catch (error) {
      this.failures += 1
      progress.done()
      reporter.skipped({ file, why: 'failed', reason: reasonOf(error) })
    }
  }

  async #take(session: FileSession, sessionId: string): Promise<void> {
    const { tool, config, known } = this.#parts
    const secrets = new Secrets(definedOf(config.environment))
    const agent = agentName(config.agent)
    const mask = (text: string) => secrets.mask(text)
    const exporting = { tool, agent, home: config.home, now: systemClock.now(), mask }
    await withExport(session, exporting, async (path) => {
      await importAt(config, path, { keepId: true })
    })
    known.add(sessionId)
  }
}

function definedOf(environment: Config['environment']): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) if (typeof value === 'string') values[name] = value
  return values
}

function firstWords({ turns, id }: FileSession): string {
  const words = turns.flatMap(({ prompt }) => prompt).find((content) => content.type === 'text')
  return words?.type === 'text' ? oneLine(words.text, 60) : id
}

interface ListedSession {
  readonly file: string
  readonly id: string
  readonly cwd: string
  readonly title: string
  readonly updatedAt?: number
  readonly isHere: boolean
}

interface Imported {
  readonly file: string
  readonly id: string
  readonly sessionId: string
  readonly turns: number
}

interface Skipped {
  readonly file: string
  readonly id?: string
  readonly sessionId?: string
  /** `here`: it is a session of this server; `empty`: it has no prompt. */
  readonly why: 'here' | 'empty' | 'failed'
  readonly reason?: string
}

class JsonReport {
  listed(listed: ListedSession): void {
    printJson({ listed })
  }

  imported(imported: Imported): void {
    printJson({ imported })
  }

  skipped(skipped: Skipped): void {
    printJson({ skipped })
  }

  end(): void {
    // The lines say it all.
  }
}

class TextReport {
  #count = 0
  #listed = 0

  listed({ id, cwd, title, updatedAt, isHere }: ListedSession): void {
    const day = updatedAt === undefined ? '' : `${new Date(updatedAt).toISOString().slice(0, 16).replace('T', ' ')}  `
    const words = `${oneLine(id, 100)}  ${day}${oneLine(title, 60)}  ${oneLine(cwd, 100)}`
    process.stdout.write(`${words}${isHere ? ' (is here)' : ''}\n`)
    this.#count += 1
    if (!isHere) this.#listed += 1
  }

  imported({ sessionId, turns }: Imported): void {
    process.stdout.write(`${sessionId}  ${turns === 1 ? '1 turn' : `${turns} turns`}\n`)
    this.#count += 1
  }

  skipped({ file, sessionId, why, reason }: Skipped): void {
    const because = {
      here: `it is here already, as ${sessionId ?? ''}`,
      empty: 'it has no prompt',
      failed: reason ?? '',
    }
    complain(`${oneLine(file, 300)} was not imported: ${oneLine(because[why], 500)}`)
    this.#count += 1
  }

  end({ isWanted, place }: { readonly isWanted: boolean; readonly place: string }): void {
    if (this.#count === 0) process.stdout.write(`${place}\n`)
    else if (!isWanted && this.#listed > 0) complain('nothing was imported; add --all, or the path of a file or folder')
  }
}
