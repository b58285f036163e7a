/** `parley search QUERY` searches all sessions. It only reads the journal, so it also works while a server owns the state. */
import { resolve } from 'node:path'
import { configFor } from '../../configured.ts'
import { fail } from '../../../errors/parley-error.ts'
import { type SessionPassage, searchStoredSessions } from '../../../server/compose/session-search.ts'
import { askToSearch } from '../../../server/admin/admin-client.ts'
import { remoteOf } from '../../remote/dial-remote.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { shortId } from '../../sessions/session-resolution.ts'
import { textOption } from '../../runtime/options.ts'
import { paintOn } from '../../output/terminal-io.ts'
import type { Paint } from '../../output/terminal/colors.ts'
import { ago } from '../../output/terminal/pace.ts'
import { clean, oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

const DEFAULT_PASSAGES = '20'
/** How long a user waits for an index that is far behind the journal. Milliseconds. */
const SEARCH_TIMEOUT_MS = 20_000

export async function run({ args, options }: CommandInput): Promise<number> {
  const limit = limitOf(textOption(options, 'limit') ?? DEFAULT_PASSAGES)
  const cwd = textOption(options, 'cwd')
  const config = await configFor()
  const asked = { query: args.join(' '), limit, timeoutMs: SEARCH_TIMEOUT_MS }
  const found = await (config.server === undefined
    ? searchStoredSessions(config, cwd === undefined ? asked : { ...asked, cwd: resolve(cwd) })
    : askToSearch({ ...config, ...(await remoteOf(config)) }, { query: asked.query, limit, cwd }))
  const asJson = options['json'] === true
  const paint = paintOn(process.stdout, config)
  for (const passage of found.passages) {
    if (asJson) printJson(passage)
    else process.stdout.write(`${passageText(passage, paint)}\n`)
  }
  if (found.behind > 0) say(`${found.behind} entries are not in the index yet and were not searched; ask again.`)
  if (found.more && !asJson) say(`there is more than these ${limit}; --limit shows more.`)
  if (found.passages.length === 0 && !asJson) say('nothing that was said has all of these words.')
  return OK
}

function say(sentence: string): void {
  complain(sentence)
}

function passageText({ sessionId, title, at, by, turnId, seq, ...said }: SessionPassage, paint: Paint): string {
  const place = [turnId ?? 'session', by, `entry ${seq}`].join(', ')
  const about = `${oneLine(title ?? '(untitled)', 60)} ${paint('dim', `· ${ago(new Date(at))} · ${place}`)}`
  const text = markedText(said, paint)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => `  ${line}`)
  return [`${paint('code', shortId(sessionId))}  ${about}`, ...text].join('\n')
}

/** Without colours the matches are not marked, and the text stays as it was. */
function markedText({ text, highlights }: Pick<SessionPassage, 'text' | 'highlights'>, paint: Paint): string {
  let marked = ''
  let end = 0
  for (const [from, to] of highlights) {
    marked += clean(text.slice(end, from)) + paint('asking', clean(text.slice(from, to)))
    end = to
  }
  return marked + clean(text.slice(end))
}

function limitOf(value: string): number {
  const limit = Number(value)
  if (/^[1-9]\d{0,4}$/u.test(value)) return limit
  return fail('CONFIG_INVALID', {
    key: '--limit',
    value: JSON.stringify(value),
    reason: 'it must be a number from 1 to 99999',
  })
}
