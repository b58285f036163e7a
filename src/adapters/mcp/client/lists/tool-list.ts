/** Reads what a server says of its tools one by one, so that a malformed one costs only itself. */
import { createHash } from 'node:crypto'
import { isNestedDeeper } from '../../../../text/nesting.ts'
import type { ServerTool } from '../../host/mcp-types.ts'
import { forModels, UnfoldingBudget } from './model-schema.ts'
import { isObject, textIn, type JsonObject } from '../../../checking/json.ts'

interface CleanTools {
  /** What the protocol layer may see: nothing that it could stumble over. */
  readonly wire: readonly JsonObject[]
  readonly tools: readonly ServerTool[]
  /** One sentence for each that was left out. */
  readonly faults: readonly string[]
  /** Of all that were kept, as they were written. */
  readonly chars: number
}

/** So much may a server say of all its tools together: whoever lists them keeps it in memory. */
export const MOST_CHARS_OF_ALL = 32 * 1024 * 1024

/** So many tools of one server are used; no model chooses well among more, and each costs every list of a session. */
export const MOST_TOOLS = 1000
export const TOO_MANY_TOOLS = `it lists more than ${MOST_TOOLS} tools; the first ${MOST_TOOLS} are used`

/** Only this word of a schema means anything to the protocol layer, which sends such arguments as headers too. */
const HEADER_WORD = 'x-mcp-header'

/** Beyond these a definition is no description any more, but a burden on everybody who reads it. */
const MOST_CHARS = 256 * 1024
const DEEPEST = 100

/** Reads no more entries than there may be tools: what is beyond costs nothing. */
export function cleanTools(raw: readonly unknown[]): CleanTools {
  const wire: JsonObject[] = []
  const tools: ServerTool[] = []
  const faults: string[] = raw.length > MOST_TOOLS ? [TOO_MANY_TOOLS] : []
  const budget = new UnfoldingBudget()
  let chars = 0
  for (const [index, entry] of raw.slice(0, MOST_TOOLS).entries()) {
    const tool = readTool(entry, budget)
    if (typeof tool === 'string') {
      faults.push(`tool ${nameFor(entry, index)} was left out: ${tool}`)
    } else {
      tools.push(tool)
      chars += JSON.stringify(entry).length
      if (chars > MOST_CHARS_OF_ALL) break
      if (tool.unsupportedReason !== undefined)
        faults.push(`tool ${nameFor(entry, index)} is kept from models: ${tool.unsupportedReason}`)
      wire.push({ name: tool.serverToolName, inputSchema: schemaForWire(tool.inputSchema) })
    }
  }
  return { wire, tools, faults, chars }
}

/** The protocol layer walks every schema that it is given, so it gets only those that it has a use for. */
function schemaForWire(schema: JsonObject): JsonObject {
  return JSON.stringify(schema).includes(HEADER_WORD) ? schema : { type: 'object' }
}

/** The tool, or why it cannot be one. */
function readTool(entry: unknown, budget: UnfoldingBudget): ServerTool | string {
  if (!isObject(entry)) return 'it is not an object'
  const original = textIn(entry, 'name')
  if (original === undefined) return 'it has no name'
  const burden = burdenOf(entry)
  if (burden !== undefined) return burden
  const inputSchema = readInputSchema(entry.inputSchema)
  if (inputSchema === undefined) return 'its inputSchema does not describe an object'
  const annotations = isObject(entry.annotations) ? entry.annotations : {}
  return {
    serverToolName: original,
    title: textIn(entry, 'title') ?? textIn(annotations, 'title') ?? original,
    description: textIn(entry, 'description') ?? '',
    inputSchema,
    ...(isObject(entry.outputSchema) && { outputSchema: entry.outputSchema }),
    readOnly: annotations.readOnlyHint === true,
    definitionHash: digestOf(entry),
    ...fitness(inputSchema, budget),
  }
}

function burdenOf(entry: JsonObject): string | undefined {
  if (isNestedDeeper(entry, DEEPEST)) return `its definition nests more than ${DEEPEST} deep`
  if (JSON.stringify(entry).length > MOST_CHARS) return `its definition is longer than ${MOST_CHARS} characters`
  const { execution } = entry
  const onlyAsTask = isObject(execution) && execution.taskSupport === 'required'
  return onlyAsTask ? 'it can only be called as a task, which Parley does not speak yet' : undefined
}

/** Arguments are always an object; a schema that does not say so but allows it is read that way. */
function readInputSchema(schema: unknown): JsonObject | undefined {
  if (!isObject(schema)) return undefined
  if (schema.type === 'object') return schema
  return schema.type === undefined ? { ...schema, type: 'object' } : undefined
}

function fitness(
  inputSchema: JsonObject,
  budget: UnfoldingBudget,
): Pick<ServerTool, 'modelSchema' | 'unsupportedReason'> {
  const fit = forModels(inputSchema, budget)
  return 'schema' in fit ? { modelSchema: fit.schema } : { unsupportedReason: fit.unfit }
}

/** Of what says what the tool does and takes; the order in which it is said changes nothing, nor does its picture. */
function digestOf({ name, title, description, inputSchema, outputSchema, annotations }: JsonObject): string {
  const said = [name, title, description, inputSchema, outputSchema, annotations].map((part) => part ?? null)
  return createHash('sha256').update(JSON.stringify(said, sortedKeys)).digest('hex').slice(0, 16)
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function nameFor(entry: unknown, index: number): string {
  const name = isObject(entry) ? textIn(entry, 'name') : undefined
  return name === undefined ? `number ${index + 1}` : JSON.stringify(name.slice(0, 100))
}
