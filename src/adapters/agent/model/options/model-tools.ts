/** The tools as a model is told of them: those of this moment, always in the same order. */
import type { ModelTool } from '../../../../ports/model.ts'
import type { Tool, ToolList } from '../../../../ports/tools.ts'

/** Same list, same answer: a long one is put in order once. */
const told = new WeakMap<ToolList, readonly ModelTool[]>()

export function toolsFor(list: ToolList): readonly ModelTool[] {
  const known = told.get(list)
  if (known !== undefined) return known
  const tools = list.tools.flatMap(toolFor).sort((a, b) => (a.name < b.name ? -1 : 1))
  told.set(list, tools)
  return tools
}

function toolFor({ name, description, title, unfit, modelSchema }: Tool): readonly ModelTool[] {
  if (unfit !== undefined) return []
  return [{ name, description: description || title, schema: modelSchema ?? { type: 'object' } }]
}
