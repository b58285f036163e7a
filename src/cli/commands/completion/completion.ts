/** `parley completion SHELL`: prints the completion script of a shell, and completes words for it. */
import { configFor } from '../../configured.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { type Candidate, type CommandTable, type ValueKind, completionsFor } from './candidates.ts'
import { SHELL_SCRIPTS } from './shell-scripts.ts'

/** More than anyone reads, and less than a shell is slow with. */
const MOST_SESSIONS = 200
/** A user has pressed Tab and waits. Milliseconds. */
const MODELS_TIMEOUT_MS = 1_000

export async function complete({ args, options }: CommandInput, table: CommandTable): Promise<number> {
  if (options['words'] === true) return await printCandidates(args, table)
  const [shell = ''] = args
  const script = Object.hasOwn(SHELL_SCRIPTS, shell) ? SHELL_SCRIPTS[shell] : undefined
  if (script === undefined) {
    const reason = `it must be one of ${Object.keys(SHELL_SCRIPTS).join(', ')}`
    return fail('CONFIG_INVALID', { key: 'shell', value: JSON.stringify(shell), reason })
  }
  process.stdout.write(script)
  return OK
}

/** One candidate on a line, a tab before its description. */
async function printCandidates(words: readonly string[], table: CommandTable): Promise<number> {
  const found = completionsFor(words, table)
  const values = found.kind === undefined ? [] : await valuesOf(found.kind).catch(() => [])
  const last = words.at(-1) ?? ''
  for (const { value, summary } of [...found.candidates, ...values])
    if (value.startsWith(last)) process.stdout.write(`${value}\t${oneLine(summary, 80)}\n`)
  return OK
}

/** The shell itself completes files and directories. */
async function valuesOf(kind: ValueKind): Promise<readonly Candidate[]> {
  switch (kind) {
    case 'session':
      return await sessions()
    case 'agent':
      return await agents()
    case 'model':
      return await models()
  }
}

async function sessions(): Promise<readonly Candidate[]> {
  const { openReader } = await import('../../../server/offline/offline-sessions.ts')
  const reader = await openReader(await configFor())
  const found: Candidate[] = []
  try {
    for await (const { sessionId, title, cwd } of reader.list()) {
      found.push({ value: sessionId, summary: title ?? cwd })
      if (found.length === MOST_SESSIONS) break
    }
  } finally {
    await reader.close()
  }
  return found
}

async function agents(): Promise<readonly Candidate[]> {
  const { listAgents } = await import('../../../server/agents/list-agents.ts')
  const { openAgentTools } = await import('../../../server/compose/agent-catalogue.ts')
  const config = await configFor()
  const tools = openAgentTools(config)
  try {
    const rows = await listAgents(config, tools, process.cwd())
    const external = rows.map(({ name, title = '' }) => ({ value: name, summary: title }))
    return [
      { value: 'guide', summary: 'answers from documents, without a model' },
      { value: 'model', summary: 'a language model' },
      ...external,
    ]
  } finally {
    await tools.close()
  }
}

async function models(): Promise<readonly Candidate[]> {
  const { openUserModels } = await import('../../../server/compose/compose.ts')
  const known = await openUserModels(await configFor(), { only: undefined })
  try {
    const sources = await known.discover(MODELS_TIMEOUT_MS, new AbortController().signal)
    return sources.flatMap(({ title, models: found }) => found.map(({ name }) => ({ value: name, summary: title })))
  } finally {
    await known.close()
  }
}
