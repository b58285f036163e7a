/** Finds the session files of other tools on this machine, and reads them. It never writes to them. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileReasonOf } from '../../../errors/file-reason.ts'
import { fail } from '../../../errors/parley-error.ts'
import { linesOfFile } from '../lines.ts'
import type { FileSession, SessionFile } from './file-session.ts'
import { type Fields, fieldsOf } from '../../../rpc/json-rpc.ts'

export const tools = ['claude', 'codex', 'gemini', 'opencode'] as const
export type ForeignTool = (typeof tools)[number]

export const titles: Readonly<Record<ForeignTool, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'OpenCode',
}

export interface SessionFilePlace {
  /** The user's own directory. */
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Where the command runs. */
  readonly cwd: string
}

/** A session is read whole, so its file is not larger than this, in bytes. */
const MAX_BYTES = 256 * 1024 * 1024

const FILES: Readonly<Record<ForeignTool, RegExp>> = {
  // Subagents have files of their own.
  claude: /(?:^|\/)(?!agent-)[^/]+\.jsonl$/u,
  codex: /(?:^|\/)rollout-[^/]*\.jsonl$/u,
  gemini: /\/chats\/[^/]+\.jsonl?$/u,
  opencode: /\/session\/[^/]+\/[^/]+\.json$/u,
}

/** Where the tool keeps its sessions. */
export function folderOf(tool: ForeignTool, { home, environment }: SessionFilePlace): string {
  switch (tool) {
    case 'claude':
      return join(environment['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'projects')
    case 'codex':
      return join(environment['CODEX_HOME'] || join(home, '.codex'), 'sessions')
    case 'gemini':
      return join(home, '.gemini', 'tmp')
    case 'opencode':
      return join(environment['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'opencode')
  }
}

/** The file itself, or the files of sessions in this folder and below it, by name. Throws IMPORT_UNREADABLE. */
export async function sessionFiles(tool: ForeignTool, path: string): Promise<readonly string[]> {
  if (tool !== 'opencode') return filesBelow(tool, path)
  const { sessionInDatabase, sessionsInDatabase } = await import('./opencode-database.ts')
  if (sessionInDatabase(path) !== undefined) return [path]
  if (path.endsWith('.db')) return sessionsInDatabase(path)
  const database = join(path, 'opencode.db')
  const stored = existsSync(database) ? sessionsInDatabase(database) : []
  // Beside the sessions there are whole repositories.
  const sessions = join(path, 'storage', 'session')
  const folder = existsSync(sessions) ? sessions : path
  return stored.length > 0 && folder === path ? stored : [...stored, ...(await filesBelow(tool, folder))]
}

async function filesBelow(tool: ForeignTool, path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const names = await readdir(path, { recursive: true })
    return names
      .map((name) => join(path, name))
      .filter((file) => FILES[tool].test(file))
      .toSorted()
  } catch (error) {
    return fail('IMPORT_UNREADABLE', { path, reason: fileReasonOf(error) }, error)
  }
}

/** The reader of a tool is loaded when its first file is read. Throws IMPORT_UNREADABLE and IMPORT_INVALID. */
export async function readSession(tool: ForeignTool, path: string, place: SessionFilePlace): Promise<FileSession> {
  if (tool === 'opencode') return opencode(path)
  const file = await textFile(path)
  switch (tool) {
    case 'claude':
      return (await import('./claude.ts')).readClaude(file)
    case 'codex':
      return (await import('./codex.ts')).readCodex(file)
    case 'gemini':
      return await gemini(file, place)
  }
}

async function textFile(path: string): Promise<SessionFile> {
  const size = await stat(path).then(
    (found) => found.size,
    (error: unknown) => fail('IMPORT_UNREADABLE', { path, reason: fileReasonOf(error) }, error),
  )
  if (size > MAX_BYTES) fail('IMPORT_UNREADABLE', { path, reason: `it is larger than ${MAX_BYTES} bytes` })
  const lines: string[] = []
  for await (const { text } of linesOfFile(path)) lines.push(text)
  return { path, text: lines.join('\n') }
}

async function gemini(file: SessionFile, { home, cwd }: SessionFilePlace): Promise<FileSession> {
  const { readGemini } = await import('./gemini.ts')
  const named = (await textIfThere(join(dirname(dirname(file.path)), '.project_root'))).trim()
  const projects = fieldsOf((await jsonIfThere(join(home, '.gemini', 'projects.json')))['projects'])
  const trusted = await jsonIfThere(join(home, '.gemini', 'trustedFolders.json'))
  const known = [cwd, home, ...Object.keys(projects), ...Object.keys(trusted)]
  const folder = basename(dirname(dirname(file.path)))
  return readGemini(file, (hash) => {
    if (named !== '') return named
    const hashed = known.find((directory) => hashOf(directory) === hash)
    return hashed ?? Object.keys(projects).find((directory) => projects[directory] === folder)
  })
}

function hashOf(directory: string): string {
  return createHash('sha256').update(directory).digest('hex')
}

/** Some of these files are there only with some versions; without them fewer directories are known. */
async function textIfThere(path: string): Promise<string> {
  try {
    return (await textFile(path)).text
  } catch {
    return ''
  }
}

async function jsonIfThere(path: string): Promise<Fields> {
  try {
    return fieldsOf(JSON.parse(await textIfThere(path)))
  } catch {
    // As if it were not there.
    return {}
  }
}

async function opencode(path: string): Promise<FileSession> {
  const { readFromDatabase, sessionInDatabase } = await import('./opencode-database.ts')
  const stored = sessionInDatabase(path)
  if (stored !== undefined) return readFromDatabase(stored.database, stored.id, MAX_BYTES)
  const { readOpencode } = await import('./opencode.ts')
  const file = await textFile(path)
  const storage = dirname(dirname(dirname(file.path)))
  const messages = []
  for (const path of await jsonFiles(join(storage, 'message', basename(file.path, '.json')))) {
    const parts: SessionFile[] = []
    for (const part of await jsonFiles(join(storage, 'part', basename(path, '.json')))) parts.push(await textFile(part))
    messages.push({ message: await textFile(path), parts })
  }
  return readOpencode(file, messages)
}

/** By name, which is by time. A message without parts has no folder. */
async function jsonFiles(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder)
    return names
      .filter((name) => name.endsWith('.json'))
      .toSorted()
      .map((name) => join(folder, name))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    return fail('IMPORT_UNREADABLE', { path: folder, reason: fileReasonOf(error) }, error)
  }
}
