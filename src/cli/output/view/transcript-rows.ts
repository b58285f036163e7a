/** Renders a transcript as rows: messages, tool calls, and the current plan. */
import type { Item, ToolCallItem } from '../../../client/transcript/items.ts'
import type { Transcript } from '../../../client/transcript/transcript.ts'
import type { ToolCallUpdate } from '../../../client/incoming/updates.ts'
import { Flow } from '../terminal/flow.ts'
import { endLine } from './aside.ts'
import { type Look, planRows, contentText, toolRow } from './rows.ts'

/** How a call is shown. */
type CallView = (call: ToolCallUpdate, look: Look) => readonly string[]

export function transcriptRows({ items, plan }: Transcript, look: Look, callView?: CallView): readonly string[] {
  const rows = itemRows(items, look, callView)
  return plan.length === 0 ? rows : [...rows, '', ...planRows(plan, look)]
}

export function itemRows(items: readonly Item[], look: Look, callView: CallView = oneRow): readonly string[] {
  const rows: string[] = []
  let before: Item['kind'] | undefined
  for (const item of items) {
    const shown = item.kind === 'tool_call' ? callView(item.call, look) : rowsOf(item, look)
    if (shown.length === 0) continue
    // Tool calls stand together; everything else is set apart.
    if (before !== undefined && !(before === 'tool_call' && item.kind === 'tool_call')) rows.push('')
    rows.push(...shown)
    before = item.kind
  }
  return rows
}

const STYLE_OF = {
  user: { only: 'user', lead: '› ' },
  thought: { only: 'dim' },
  agent: {},
} as const

function oneRow(call: ToolCallUpdate, look: Look): readonly string[] {
  return [toolRow(call, look)]
}

function rowsOf(item: Exclude<Item, ToolCallItem>, look: Look): readonly string[] {
  switch (item.kind) {
    case 'message': {
      const flow = new Flow({ ...look, ...STYLE_OF[item.role] })
      const text = item.content.map(contentText).join('\n').trim()
      return [...flow.push(text), ...flow.end()]
    }
    case 'end': {
      const flow = new Flow({ ...look, only: 'dim' })
      return [...flow.push(endLine(item) ?? ''), ...flow.end()]
    }
    case 'other':
      return []
  }
}
