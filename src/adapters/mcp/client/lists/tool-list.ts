/** Parses a server's tools one by one, so that a malformed tool only loses itself. */
import { createHash } from 'node:crypto'
import { isNestedDeeper } from '../../../../text/nesting.ts'
import type { ServerTool } from '../../host/mcp-types.ts'
import { forModels, UnfoldingBudget } from './model-schema.ts'
import { isObject, nonEmptyText, type JsonObject } from '../../../checking/json.ts'

interface CleanTools {
  /** The tools as the SDK gets them: nothing that its own validation could reject. */
  readonly wire: readonly JsonObject[]
  readonly tools: readonly ServerTool[]
  /** One sentence for each tool that was left out. */
  readonly faults: readonly string[]
  /** Size of all tools that were kept, as JSON. */
  readonly chars: number
}

/** Size of all definitions of one server together: they are kept in memory. */
export const MAX_LIST_CHARS = 32 * 1024 * 1024

/** Tools of one server that are used. Models choose badly among more, and each tool adds to every list of a session. */
export const MAX_TOOLS = 1000
export const TOO_MANY_TOOLS = `it lists more than ${MAX_TOOLS} tools; the first ${MAX_TOOLS} are used`

/** The only keyword that the SDK uses: it also sends such arguments as HTTP headers. */
const HEADER_WORD = 'x-mcp-header'

/** Limits of one definition, which every list of a session contains. */
const MAX_DEFINITION_CHARS = 256 * 1024
const MAX_DEPTH = 100

/** Parses at most MAX_TOOLS entries. */
export function cleanTools(raw: readonly unknown[]): CleanTools {
  const wire: JsonObject[] = []
  const tools: ServerTool[] = []
  const faults: string[] = raw.length > MAX_TOOLS ? [TOO_MANY_TOOLS] : []
  const budget = new UnfoldingBudget()
  let chars = 0
  for (const [index, entry] of raw.slice(0, MAX_TOOLS).entries()) {
    const tool = readTool(entry, budget)
    if (typeof tool === 'string') {
      faults.push(`tool ${nameFor(entry, index)} was left out: ${tool}`)
    } else {
      tools.push(tool)
      chars += JSON.stringify(entry).length
      if (chars > MAX_LIST_CHARS) break
      if (tool.unsupportedReason !== undefined)
        faults.push(`tool ${nameFor(entry, index)} is not offered to models: ${tool.unsupportedReason}`)
      wire.push({ name: tool.serverToolName, inputSchema: schemaForWire(tool.inputSchema) })
    }
  }
  return { wire, tools, faults, chars }
}

/** The SDK walks every schema, so it gets only those that it uses. */
function schemaForWire(schema: JsonObject): JsonObject {
  return JSON.stringify(schema).includes(HEADER_WORD) ? schema : { type: 'object' }
}

/** The tool, or the reason why it cannot be used. */
function readTool(entry: unknown, budget: UnfoldingBudget): ServerTool | string {
  if (!isObject(entry)) return 'it is not an object'
  const original = nonEmptyText(entry, 'name')
  if (original === undefined) return 'it has no name'
  const reason = whyUnusable(entry)
  if (reason !== undefined) return reason
  const inputSchema = readInputSchema(entry.inputSchema)
  if (inputSchema === undefined) return 'its inputSchema does not describe an object'
  const annotations = isObject(entry.annotations) ? entry.annotations : {}
  return {
    serverToolName: original,
    title: nonEmptyText(entry, 'title') ?? nonEmptyText(annotations, 'title') ?? original,
    description: nonEmptyText(entry, 'description') ?? '',
    inputSchema,
    ...(isObject(entry.outputSchema) && { outputSchema: entry.outputSchema }),
    readOnly: annotations.readOnlyHint === true,
    definitionHash: hashDefinition(entry),
    ...fitness(inputSchema, budget),
  }
}

function whyUnusable(entry: JsonObject): string | undefined {
  if (isNestedDeeper(entry, MAX_DEPTH)) return `its definition nests more than ${MAX_DEPTH} deep`
  if (JSON.stringify(entry).length > MAX_DEFINITION_CHARS)
    return `its definition is longer than ${MAX_DEFINITION_CHARS} characters`
  const { execution } = entry
  const onlyAsTask = isObject(execution) && execution.taskSupport === 'required'
  return onlyAsTask ? 'it can only be called as a task, which Parley does not speak yet' : undefined
}

/** Arguments are always an object; a schema without a type is read as one. */
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
  return 'schema' in fit ? { modelSchema: fit.schema } : { unsupportedReason: fit.unsupported }
}

/** Identifies what the tool does and takes, independent of the order of keys and of its icons. */
function hashDefinition({ name, title, description, inputSchema, outputSchema, annotations }: JsonObject): string {
  const said = [name, title, description, inputSchema, outputSchema, annotations].map((part) => part ?? null)
  return createHash('sha256').update(JSON.stringify(said, sortedKeys)).digest('hex').slice(0, 16)
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function nameFor(entry: unknown, index: number): string {
  const name = isObject(entry) ? nonEmptyText(entry, 'name') : undefined
  return name === undefined ? `number ${index + 1}` : JSON.stringify(name.slice(0, 100))
}
