/** Paths, lines, spelling: what holds in every message. */
import { type Case, one } from '../case.ts'
import { law } from '../laws.ts'
import { onResult, onUpdate } from '../mutant.ts'
import type { Stage } from '../stage.ts'

const REPORT = {
  toolCall: {
    toolCallId: 'edit',
    title: 'Edits',
    kind: 'edit',
    status: 'completed',
    locations: [{ path: '/work/a.txt', line: 1 }],
    content: [{ type: 'diff', path: '/work/a.txt', oldText: null, newText: 'new' }],
  },
}

const all = async (stage: Stage): Promise<void> => {
  await stage.prompt(await stage.session())
}

export const conventionCases: readonly Case[] = [
  one('A-CV-1', 'every path is absolute', {
    script: [REPORT],
    play: all,
    check: law('A-CV-1'),
    mutant: onUpdate('tool_call', 'locations', [{ path: 'work/a.txt' }]),
  }),
  one('A-CV-2', 'lines are counted from 1', {
    script: [REPORT],
    play: all,
    check: law('A-CV-2'),
    mutant: onUpdate('tool_call', 'locations', [{ path: '/work/a.txt', line: 0 }]),
  }),
  one('A-CV-3', 'extension keys are in `_meta` only', {
    play: (stage) => stage.session(),
    check: law('A-CV-3'),
    mutant: onResult('session/new', 'models', { currentModelId: 'm' }),
  }),
  one('A-CV-3', 'nested objects of an update have only keys of the standard', {
    script: [REPORT],
    play: all,
    check: law('A-CV-3'),
    mutant: onUpdate('tool_call', 'locations.0.column', 4),
  }),
  one('A-CV-4', 'keys are camelCase, kinds are snake_case', {
    script: [REPORT],
    play: all,
    check: law('A-CV-4'),
    mutant: onUpdate('tool_call', 'raw_input', {}),
  }),
  one('A-CV-5', 'every line is valid by the official schema', {
    script: [{ thought: 'Hm.' }, { chunk: 'Yes.' }, REPORT, { plan: ['one'] }],
    play: all,
    check: law('A-CV-5'),
    mutant: onUpdate('plan', 'entries', [{ content: 'one', status: 'begun', priority: 'medium' }]),
  }),
]
