/** Reads what a server says of its tools one by one, so that a malformed one costs only itself. */
import type { ServerTool } from '../connection.ts'
import { isObject, textIn, type JsonObject } from './json.ts'

export interface CleanTools {
  /** What the protocol layer may see: nothing that it could stumble over. */
  readonly wire: readonly JsonObject[]
  readonly tools: readonly ServerTool[]
  /** One sentence for each that was left out. */
  readonly faults: readonly string[]
}

export function cleanTools(raw: readonly unknown[]): CleanTools {
  const wire: JsonObject[] = []
  const tools: ServerTool[] = []
  const faults: string[] = []
  for (const [index, entry] of raw.entries()) {
    const tool = readTool(entry)
    if (typeof tool === 'string') {
      faults.push(`tool ${nameFor(entry, index)} was left out: ${tool}`)
    } else {
      tools.push(tool)
      wire.push({ name: tool.original, description: tool.description, inputSchema: tool.inputSchema })
    }
  }
  return { wire, tools, faults }
}

/** The tool, or why it cannot be one. */
function readTool(entry: unknown): ServerTool | string {
  if (!isObject(entry)) return 'it is not an object'
  const original = textIn(entry, 'name')
  if (original === undefined) return 'it has no name'
  const inputSchema = readInputSchema(entry.inputSchema)
  if (inputSchema === undefined) return 'its inputSchema does not describe an object'
  const annotations = isObject(entry.annotations) ? entry.annotations : {}
  return {
    original,
    title: textIn(entry, 'title') ?? textIn(annotations, 'title') ?? original,
    description: textIn(entry, 'description') ?? '',
    inputSchema,
    ...(isObject(entry.outputSchema) && { outputSchema: entry.outputSchema }),
    readOnly: annotations.readOnlyHint === true,
  }
}

/** Arguments are always an object; a schema that does not say so but allows it is read that way. */
function readInputSchema(schema: unknown): JsonObject | undefined {
  if (!isObject(schema)) return undefined
  if (schema.type === 'object') return schema
  return schema.type === undefined ? { ...schema, type: 'object' } : undefined
}

function nameFor(entry: unknown, index: number): string {
  const name = isObject(entry) ? textIn(entry, 'name') : undefined
  return name === undefined ? `number ${index + 1}` : JSON.stringify(name.slice(0, 100))
}
