/** `command_output`: the new output of a background command, its end, or its stop. */
import { z } from 'zod'
import type { Running } from './running.ts'
import { type ToolCall, defineTool, longResult } from '../toolset/tool.ts'

const MAX_WAIT_SECONDS = 600

export const commandOutput = defineTool({
  name: 'command_output',
  title: 'Output of a command',
  description:
    'Reads what a command in the background has printed since you last read, and whether it still runs. Can wait for its end, or stop it.',
  arguments: z.strictObject({
    id: z.string().min(1).describe('As run_command gave it.'),
    wait: z.int().min(0).max(MAX_WAIT_SECONDS).optional().describe('Seconds to wait for its end. Default 0.'),
    stop: z.boolean().optional().describe('Stop it. Default false.'),
  }),
  kind: 'read',
  // It touches nothing but what the session itself has started, and only to end it.
  readOnly: true,
  preview: ({ id, stop }) => ({ title: stop === true ? `Stop command ${id}` : `Read what command ${id} says` }),
  async run({ id, wait = 0, stop = false }, call) {
    const kept = call.memory.background.find(id)
    const { running } = kept
    if (stop) await running.stop()
    else if (wait > 0) await untilEnd(running, wait, call)
    const text = running.output.from(kept.readTo).trimEnd()
    kept.readTo = running.output.total
    const said = text === '' ? ['[Nothing new.]'] : [text]
    const { exit } = running
    return longResult([...said, stateOf(running)].join('\n'), call.caller.toolCallId, {
      structured: { running: exit === undefined, exitCode: exit?.code ?? null, signal: exit?.signal ?? null },
    })
  },
})

function stateOf({ exit, line }: Running): string {
  if (exit === undefined) return `[${line.slice(0, 100)} still runs.]`
  return exit.signal === null ? `[It has ended with exit code ${exit.code}.]` : `[It was ended by ${exit.signal}.]`
}

/** Resolves also when the call is cancelled. */
async function untilEnd({ ended }: Running, seconds: number, { services: { clock }, signal }: ToolCall): Promise<void> {
  const waiting = clock.sleep(seconds * 1_000, signal).catch(() => undefined)
  await Promise.race([ended, waiting])
}
