/** `plan`: shows users the steps that the model plans. */
import { z } from 'zod'
import { defineTool, textResult } from './toolset/tool.ts'

const entry = z.strictObject({
  content: z.string().min(1).max(500),
  status: z.enum(['pending', 'in_progress', 'completed']),
  priority: z.enum(['high', 'medium', 'low']).optional().describe('Default medium.'),
})

export const plan = defineTool({
  name: 'plan',
  title: 'Plan',
  description:
    'Shows the user the steps of your work. Give all steps each time, also those that are done. For work of three steps or more; keep one in progress.',
  arguments: z.strictObject({ entries: z.array(entry).max(100) }),
  kind: 'think',
  readOnly: true,
  preview: ({ entries }) => ({ title: `Plan: ${entries.length} steps` }),
  async run({ entries }, { caller }) {
    await caller.plan(entries.map(({ priority = 'medium', ...rest }) => ({ ...rest, priority })))
    const done = entries.filter(({ status }) => status === 'completed').length
    return textResult(`The user sees the plan: ${done} of ${entries.length} steps are done.`)
  },
})
