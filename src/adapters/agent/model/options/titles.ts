/** Asks the model for a short title of a new session, beside the first turn. A failure is ignored. */
import { waitAtMost } from '../../../../async/with-timeout.ts'
import type { Content } from '../../../../ports/values/content.ts'
import type { TurnWork } from '../context/context.ts'

/** A shorter prompt is its own title. Characters. */
const SHORT_PROMPT_CHARS = 60

/** How long the end of the turn may wait for the title. Milliseconds. */
const TITLE_TIMEOUT_MS = 1_000

const SYSTEM =
  'You give conversations their titles. Answer with a title of three to seven words for a conversation that begins with the message of the user, in the language of that message. No quotes, no full stop, nothing else.'

/** Resolves when the title is set or no longer worth waiting for. */
export function startTitle(work: TurnWork): () => Promise<void> {
  const said = textOf(work.turn.prompt)
  if (!work.deps.titles || work.context.messages.length > 1 || said.length <= SHORT_PROMPT_CHARS) return async () => {}
  const given = ask(work, said).catch(() => undefined)
  const { clock } = work.deps
  return async () => {
    if (!work.turn.signal.aborted) await waitAtMost(given, { clock, ms: TITLE_TIMEOUT_MS })
  }
}

async function ask(work: TurnWork, said: string): Promise<void> {
  const { turn } = work
  const model = await work.model()
  const [effort] = model.efforts
  const request = {
    system: SYSTEM,
    messages: [{ role: 'user', content: [{ type: 'text', text: said.slice(0, 4_000) }] }] as const,
    tools: [],
    session: turn.sessionId,
    signal: turn.signal,
    ...(effort !== undefined && { effort }),
  }
  let title = ''
  for await (const part of model.stream(request)) if (part.kind === 'text') title += part.text
  const line =
    title
      .trim()
      .split('\n', 1)[0]
      ?.replaceAll(/^["'“«]+|["'”».]+$/gu, '')
      .trim() ?? ''
  if (line !== '' && line.length <= 100) await turn.title(line)
}

function textOf(prompt: readonly Content[]): string {
  return prompt
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n')
    .trim()
}
