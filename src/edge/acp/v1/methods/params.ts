/** Parses the parameters of requests, so that the rest can trust their types. Loaded after `initialize`, because zod takes long to load. */
import { z } from 'zod'
import { fail } from '../../../../errors/parley-error.ts'
import type { Content } from '../../../../ports/values/content.ts'
import type { McpServer } from '../../../../ports/tools.ts'
import { MAX_SESSION_SERVERS } from '../../../../session/handle.ts'
import type { Method } from '../../../method-access.ts'
import { isNestedDeeper } from '../../../../text/nesting.ts'

/** Each block of a prompt is stored and sent as an entry of its own. */
const MAX_PROMPT_BLOCKS = 1_000

/** Characters of a part of a file's name. */
const MAX_QUERY_CHARS = 1_000
/** Files or directories of one answer. */
const MAX_FOUND_PLACES = 500
const MAX_PAGE_UPDATES = 500

const meta = z.record(z.string(), z.unknown()).nullish()
const annotated = { annotations: z.record(z.string(), z.unknown()).nullish(), _meta: meta }
const grant = z.object({
  effect: z.enum(['allow', 'deny']),
  tool: z.string(),
  definition: z.string(),
  command: z.string().exactOptional(),
  host: z.string().exactOptional(),
})
const resource = z.union([
  z.looseObject({ uri: z.string(), text: z.string(), mimeType: z.string().nullish(), _meta: meta }),
  z.looseObject({ uri: z.string(), blob: z.string(), mimeType: z.string().nullish(), _meta: meta }),
])
const content = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string(), ...annotated }),
  z.object({
    type: z.literal('image'),
    data: z.string(),
    mimeType: z.string(),
    uri: z.string().nullish(),
    ...annotated,
  }),
  z.object({ type: z.literal('audio'), data: z.string(), mimeType: z.string(), ...annotated }),
  z.object({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string(),
    title: z.string().nullish(),
    description: z.string().nullish(),
    mimeType: z.string().nullish(),
    size: z.number().nullish(),
    ...annotated,
  }),
  z.object({ type: z.literal('resource'), resource, ...annotated }),
])

const pair = z.object({ name: z.string().min(1), value: z.string() })
const remote = {
  name: z.string().min(1),
  url: z.url({ protocol: /^https?$/u }),
  headers: z
    .array(pair)
    .nullish()
    .transform((headers) => headers ?? []),
}
const stdio = z.object({
  type: z.literal('stdio').optional(),
  name: z.string().min(1),
  command: z.string().min(1),
  args: z
    .array(z.string())
    .nullish()
    .transform((args) => args ?? []),
  env: z
    .array(pair)
    .nullish()
    .transform((env) => env ?? []),
})
const SERVER_FORMS =
  'must be a stdio server (name, command, args, env), an http or sse server (name, url, headers), or the name of one in the settings (name)'
const mcpServer = z.union([z.object({ type: z.enum(['http', 'sse']), ...remote }), stdio]).transform(asMcpServer)
/** The name alone: a server that the settings of this machine have. */
const namedServer = z.strictObject({ name: z.string().min(1), _meta: meta }).transform(({ name }) => name)

const sessionId = z.string().min(1)
const directories = {
  cwd: z.string(),
  additionalDirectories: z
    .array(z.string().min(1))
    .nullish()
    .transform((directories) => directories ?? []),
}
const requiredServers = z
  .array(z.union([namedServer, mcpServer], { error: SERVER_FORMS }))
  .max(MAX_SESSION_SERVERS, { error: `must name at most ${MAX_SESSION_SERVERS} servers` })
  .nullable()
  .transform((servers) => servers ?? [])
const optionalServers = requiredServers.optional().transform((servers) => servers ?? [])

/** A client whose connection or server was lost: the last entry that it has, and its prompts that have had no answer. */
const resumeMeta = z
  .looseObject({
    'parley/after': z.int().min(0).nullish(),
    /** False: the session keeps its agent, whatever the client has chosen in `initialize`. */
    'parley/agentChosen': z.boolean().nullish(),
    'parley/prompts': z
      .array(z.object({ requestId: z.union([z.string(), z.number()]), promptId: z.string().min(1) }))
      .nullish(),
  })
  .nullish()

/** The agent of this session alone, instead of the connection's; and, in a cluster, the node for it. */
const newMeta = z
  .looseObject({
    'parley/agent': z.string().min(1).nullish(),
    'parley/node': z.string().min(1).nullish(),
    'parley/labels': z.record(z.string(), z.string()).nullish(),
  })
  .nullish()

/** An invalid prompt id is refused: if it were ignored, a prompt that is sent again would run twice. */
const promptMeta = z.looseObject({ 'parley/promptId': z.string().min(1).nullish() }).nullish()

const phase = z.enum(['idle', 'working', 'waiting', 'suspended', 'closed'])
const listMeta = z
  .looseObject({
    'parley/filter': z
      .object({
        phase: z.union([phase, z.array(phase)]).exactOptional(),
        agent: z.string().exactOptional(),
        cwdPrefix: z.string().exactOptional(),
        text: z.string().exactOptional(),
      })
      .nullish(),
  })
  .nullish()

/** `configured`: the names of servers that the client named alone. */
function withServers<Params extends { readonly mcpServers: readonly (McpServer | string)[] }>({
  mcpServers,
  ...params
}: Params) {
  return {
    ...params,
    mcpServers: mcpServers.filter((one) => typeof one !== 'string'),
    configured: mcpServers.filter((one) => typeof one === 'string'),
  }
}

export const schemas = {
  'session/new': z.object({ ...directories, mcpServers: requiredServers, _meta: newMeta }).transform(withServers),
  'session/load': z
    .object({ sessionId, ...directories, mcpServers: requiredServers, _meta: resumeMeta })
    .transform(withServers),
  'session/resume': z
    .object({ sessionId, ...directories, mcpServers: optionalServers, _meta: resumeMeta })
    .transform(withServers),
  'session/fork': z
    .object({ sessionId, ...directories, mcpServers: optionalServers, _meta: meta })
    .transform(withServers),
  'session/set_mode': z.object({ sessionId, modeId: z.string(), _meta: meta }),
  // ACP also has a `type` for the value; it is not needed, so clients that omit it are understood too.
  'session/set_config_option': z.object({
    sessionId,
    configId: z.string(),
    value: z.union([z.string(), z.boolean()]),
    _meta: meta,
  }),
  'session/prompt': z.object({ sessionId, prompt: z.array(content).min(1).max(MAX_PROMPT_BLOCKS), _meta: promptMeta }),
  'session/cancel': z.object({ sessionId, _meta: meta }),
  'session/close': z.object({ sessionId, _meta: meta }),
  'session/delete': z.object({ sessionId, _meta: meta }),
  '_parley/page': z.object({
    sessionId,
    before: z.int().min(1).nullish(),
    limit: z.int().min(1).max(MAX_PAGE_UPDATES).nullish(),
    _meta: meta,
  }),
  '_parley/export': z.object({
    sessionId,
    after: z.int().min(0).nullish(),
    upTo: z.int().min(1).nullish(),
    _meta: meta,
  }),
  '_parley/outline': z.object({ sessionId, _meta: meta }),
  '_parley/files': z.object({
    sessionId,
    query: z.string().max(MAX_QUERY_CHARS).nullish(),
    limit: z.int().min(1).max(MAX_FOUND_PLACES).nullish(),
    _meta: meta,
  }),
  '_parley/directories': z.object({
    path: z.string().min(1).nullish(),
    query: z.string().max(MAX_QUERY_CHARS).nullish(),
    limit: z.int().min(1).max(MAX_FOUND_PLACES).nullish(),
    _meta: meta,
  }),
  '_parley/seen': z.object({ sessionId, seq: z.int().min(0), _meta: meta }),
  '_parley/answer': z.object({ sessionId, requestId: z.string().min(1), optionId: z.string(), _meta: meta }),
  '_parley/withdraw': z.object({ sessionId, promptId: z.string().min(1), _meta: meta }),
  '_parley/promote': z.object({ sessionId, promptId: z.string().min(1), now: z.boolean().nullish(), _meta: meta }),
  '_parley/rename': z.object({ sessionId, title: z.string(), _meta: meta }),
  '_parley/force_cancel': z.object({ sessionId, _meta: meta }),
  '_parley/release': z.object({ sessionId, _meta: meta }),
  '_parley/revoke': z.object({ sessionId, grant, _meta: meta }),
  '_parley/fork': z.object({ sessionId, at: z.number().nullish(), _meta: meta }),
  'session/list': z.object({ cwd: z.string().nullish(), cursor: z.string().nullish(), _meta: listMeta }),
} as const satisfies Partial<Readonly<Record<Method, z.ZodType>>>

export type Parsed<Method extends keyof typeof schemas> = z.output<(typeof schemas)[Method]>

/** Throws PARAMS_INVALID naming the first thing that is wrong and where. */
export function parseParams<Method extends keyof typeof schemas>(method: Method, params: unknown): Parsed<Method> {
  if (isNestedDeeper(params, MAX_NESTING)) fail('PARAMS_INVALID', { method, reason: 'they are nested too deeply' })
  const parsed = schemas[method].safeParse(params ?? {})
  if (parsed.success) return parsed.data as Parsed<Method>
  return fail('PARAMS_INVALID', { method, reason: firstIssue(parsed.error) })
}

/** The journal writes and reads stored values recursively. */
const MAX_NESTING = 100

/** Names the place but no value: a header or an environment variable may be a secret. */
function firstIssue({ issues }: z.ZodError): string {
  const [issue] = issues
  if (issue === undefined) return 'they do not parse'
  const where = issue.path.join('.')
  const what = issue.message.charAt(0).toLowerCase() + issue.message.slice(1)
  return where === '' ? what : `${where}: ${what}`
}

function asMcpServer(
  server:
    | z.output<typeof stdio>
    | { type: 'http' | 'sse'; name: string; url: string; headers: z.output<typeof pair>[] },
): McpServer {
  const { name } = server
  if ('url' in server) {
    return {
      type: server.type,
      name,
      url: server.url,
      headers: server.headers.map(({ name, value }) => [name, value] as const),
    }
  }
  const env = Object.fromEntries(server.env.map(({ name, value }) => [name, value]))
  return { type: 'stdio', name, command: server.command, args: server.args, env }
}

/** The prompt as the core has it, without members that are undefined. */
export function asContent(prompt: Parsed<'session/prompt'>['prompt']): readonly Content[] {
  const blocks = JSON.parse(JSON.stringify(prompt)) as readonly Parameters<typeof contentIn>[0][]
  return blocks.map(contentIn)
}

interface WireBlock {
  readonly _meta?: unknown
  readonly resource?: WireBlock
}

/** A content block that a client sent, as the core has it. */
function contentIn({ _meta, ...block }: WireBlock): Content {
  const resource = block.resource && { resource: contentIn(block.resource) }
  return { ...block, ...resource, ...(_meta !== undefined && { meta: _meta }) } as unknown as Content
}
