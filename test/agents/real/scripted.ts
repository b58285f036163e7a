/** What the model of a real agent says: it obeys a tag in the last prompt. */
import type { Asked, AskedMessage, Saying } from '../../model-server/script.ts'

const TAG = /#(?<deed>say|tool|long|work|flood)\s+(?<word>[\w-]+)/gu

export function answerTo(asked: Asked): readonly Saying[] {
  // Requests without tools are the agent's own: a title, a summary.
  if (asked.tools.length === 0) return [{ text: 'A title' }]
  const at = asked.messages.findLastIndex((message) => isPrompt(message))
  const { deed = 'say', word = 'nothing' } = [...(asked.messages[at]?.text ?? '').matchAll(TAG)].at(-1)?.groups ?? {}
  const isAnswered = asked.messages.slice(at + 1).some(({ results }) => results.length > 0)
  // `work` is a tool, and a long answer after it.
  if ((deed === 'tool' || deed === 'work') && !isAnswered) return [{ text: 'Running.' }, callOf(asked.tools, word)]
  if (deed === 'long' || deed === 'work') return [{ text: [`${word} {n} `], times: 600, everyMs: 50 }]
  if (deed === 'flood') return [{ text: ['and {n} more words '], times: Number(word) }]
  return [{ text: [`said `, `${word}.`] }]
}

function isPrompt({ role, text }: AskedMessage): boolean {
  return role === 'user' && text.search(TAG) >= 0
}

/** The agent's own tool for commands, with what it wants to be told. */
function callOf(tools: readonly string[], word: string): Saying {
  const command = `echo ${word} > ${word}.txt`
  const name = NAMES.find((one) => tools.includes(one))
  if (name === undefined) return { text: `no tool for commands among ${tools.join(' ')}` }
  const escalation = { sandbox_permissions: 'require_escalated', justification: 'a test' }
  if (name === 'exec_command') return { call: name, args: { cmd: command, ...escalation } }
  if (name === 'shell_command') return { call: name, args: { command, ...escalation } }
  return { call: name, args: { command, description: 'a test' } }
}

const NAMES = ['exec_command', 'shell_command', 'Bash', 'bash', 'run_shell_command']
