/** Writes a session of another tool as an exported session, which a server imports as any other: whole or not at all. */
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ENTRY_FORMAT } from '../../../session/domain/entries.ts'
import { toldEntries } from '../../../session/lifecycle/import-conversation.ts'
import { EXPORT_FORMAT } from '../../../session/lifecycle/export-session.ts'
import type { FileSession } from './file-session.ts'
import { type ForeignTool, titles } from './find.ts'

interface Exporting {
  readonly tool: ForeignTool
  /** Answers from now on. */
  readonly agent: string
  /** The state directory: the server may not see the temporary files of this process. */
  readonly home: string
  readonly now: number
  /** Takes secrets out of a text. */
  readonly mask: (text: string) => string
}

/** The same session of the same tool always has the same id here, so that it cannot be imported twice. */
export function importedIdOf(tool: ForeignTool, id: string): string {
  const hash = createHash('sha256').update(`${tool}\0${id}`).digest('hex')
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`]
  return [...parts, hash.slice(20, 32)].join('-')
}

const FOLDER = 'import-'
/** No import of one session takes so long. Milliseconds. */
const ABANDONED_MS = 60 * 60_000

/** An import that was killed leaves its folder behind, with a whole conversation in it. */
async function removeLeftovers(home: string, now: number): Promise<void> {
  const names = await readdir(home).catch(() => [])
  for (const name of names.filter((one) => one.startsWith(FOLDER))) {
    const path = join(home, name)
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined && now - found.mtimeMs > ABANDONED_MS) await rm(path, { recursive: true, force: true })
  }
}

/** Calls `use` with the path of the file, and deletes it. */
export async function withExport(
  session: FileSession,
  { tool, agent, home, now, mask }: Exporting,
  use: (path: string) => Promise<void>,
): Promise<void> {
  const { cwd, title, turns, leftOut } = session
  const id = importedIdOf(tool, session.id)
  const lost = leftOut.length === 0 ? '' : ` Left out, because this Parley does not know them: ${leftOut.join(', ')}.`
  const notice = `Imported from a file of ${titles[tool]}, session ${session.id}.${lost}`
  const conversation = { id, agent, cwd, turns, notice, ...(title !== undefined && { title }) }
  const entries = [...toldEntries(conversation, now)].map((entry) => mask(JSON.stringify(entry)))
  const head = {
    parley: 'session',
    format: EXPORT_FORMAT,
    entryFormat: ENTRY_FORMAT,
    session: { id, lastSeq: entries.length },
  }
  await removeLeftovers(home, now)
  const folder = await mkdtemp(join(home, FOLDER))
  try {
    const path = join(folder, 'session.jsonl')
    await writeFile(path, `${[JSON.stringify(head), ...entries].join('\n')}\n`, { mode: 0o600 })
    await use(path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
