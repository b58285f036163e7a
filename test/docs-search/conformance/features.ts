/** What the official suite asks of a server beyond documents: small tools, prompts and resources with agreed names and answers. */
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  type GetPromptResult,
  inputRequired,
  type InputRequiredResult,
  type InputRequests,
  inputResponse,
  MissingRequiredClientCapabilityError,
  type ServerContext,
} from '@modelcontextprotocol/server'

type Arguments = Readonly<Record<string, unknown>>
type ToolResult = CallToolResult | InputRequiredResult

export interface Feature {
  /** Names of the string arguments, all of them required. */
  readonly arguments?: readonly string[]
  readonly call: (args: Arguments, ctx: ServerContext, world: World) => ToolResult | Promise<ToolResult>
}

/** What a feature may do besides answering. */
export interface World {
  readonly toolsChanged: () => void
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

/** As long as the suite wants between two notifications. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 50))
const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] })
const codec = createRequestStateCodec<string>({ key: 'only-for-the-conformance-suite-of-the-protocol' })
export const verifyState = (state: string, ctx: ServerContext) => codec.verify(state, ctx)

const NAME_FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
type Schema = ElicitRequestFormParams['requestedSchema']

const ask = (message: string, requestedSchema: Schema): InputRequests[string] => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema },
})
const sample = (said: string, maxTokens: number): InputRequests[string] => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: said } }], maxTokens },
})
const ROOTS: InputRequests[string] = { method: 'roots/list', params: {} }

const elicited = async (ctx: ServerContext, message: string, requestedSchema: Schema): Promise<string> => {
  const { action, content } = await ctx.mcpReq.elicitInput({ mode: 'form', message, requestedSchema })
  return `action=${action}, content=${JSON.stringify(content ?? {})}`
}

/** The answer of the person under this key; undefined if there is none that was given willingly. */
function answered(ctx: ServerContext, key: string, field: string): unknown {
  const response = inputResponse(ctx.mcpReq.inputResponses, key)
  return response.kind === 'elicit' && response.action === 'accept' ? response.content?.[field] : undefined
}

const contents: Readonly<Record<string, Feature>> = {
  test_simple_text: { call: () => text('This is a simple text response for testing.') },
  test_image_content: { call: () => ({ content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] }) },
  test_audio_content: { call: () => ({ content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }) },
  test_embedded_resource: {
    call: () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    }),
  },
  test_multiple_content_types: {
    call: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PIXEL, mimeType: 'image/png' },
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: '{"test":"data","value":123}',
          },
        },
      ],
    }),
  },
  test_error_handling: {
    call: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  },
}

const events: Readonly<Record<string, Feature>> = {
  test_tool_with_logging: {
    async call(_, ctx) {
      for (const said of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await ctx.mcpReq.log('info', said)
        await pause()
      }
      return text('Logged three messages.')
    },
  },
  test_logging_tool: {
    async call(_, ctx) {
      await ctx.mcpReq.log('info', 'Only for who asked for it.')
      return text('Logged one message, where it was asked for.')
    },
  },
  test_tool_with_progress: {
    async call(_, ctx) {
      const progressToken = ctx.mcpReq._meta?.progressToken
      for (const progress of [0, 50, 100]) {
        const params = { progressToken, progress, total: 100 }
        if (progressToken !== undefined) await ctx.mcpReq.notify({ method: 'notifications/progress', params })
        await pause()
      }
      return text('Done.')
    },
  },
  test_reconnection: {
    async call(_, ctx) {
      ctx.http?.closeSSE?.()
      await pause()
      return text('Answered on the stream that was gone back to.')
    },
  },
  test_trigger_tool_change: {
    call(_, _ctx, { toolsChanged }) {
      toolsChanged()
      return text('Told of a change of the tools.')
    },
  },
}

/** Features that ask the client in the middle of a call, as the revisions up to 2025-11-25 do. */
const requests: Readonly<Record<string, Feature>> = {
  test_sampling: {
    arguments: ['prompt'],
    async call({ prompt }, ctx) {
      const content = { type: 'text', text: String(prompt) } as const
      const answer = await ctx.mcpReq.requestSampling({ messages: [{ role: 'user', content }], maxTokens: 100 })
      return text(`LLM response: ${JSON.stringify(answer.content)}`)
    },
  },
  test_elicitation: {
    arguments: ['message'],
    async call({ message }, ctx) {
      const properties = {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      } as const
      const schema = { type: 'object', properties, required: ['username', 'email'] } as const
      return text(
        `User response: ${await elicited(ctx, String(message), { ...schema, required: [...schema.required] })}`,
      )
    },
  },
  test_elicitation_sep1034_defaults: {
    async call(_, ctx) {
      const properties = {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      } satisfies Schema['properties']
      return text(`Elicitation completed: ${await elicited(ctx, 'With defaults', { type: 'object', properties })}`)
    },
  },
  test_elicitation_sep1330_enums: {
    async call(_, ctx) {
      const options = (kind: string) =>
        ['First', 'Second', 'Third'].map((nth, i) => ({ const: `value${i + 1}`, title: `${nth} ${kind}` }))
      const values = ['option1', 'option2', 'option3']
      const properties = {
        untitledSingle: { type: 'string', enum: values },
        titledSingle: { type: 'string', oneOf: options('Option') },
        legacyEnum: {
          type: 'string',
          enum: ['opt1', 'opt2', 'opt3'],
          enumNames: ['Option One', 'Option Two', 'Option Three'],
        },
        untitledMulti: { type: 'array', items: { type: 'string', enum: values } },
        titledMulti: { type: 'array', items: { anyOf: options('Choice') } },
      } satisfies Schema['properties']
      return text(`Elicitation completed: ${await elicited(ctx, 'With choices', { type: 'object', properties })}`)
    },
  },
}

/** Features that answer with what they still need, as the revision 2026-07-28 does. */
const rounds: Readonly<Record<string, Feature>> = {
  test_input_required_result_elicitation: {
    call(_, ctx) {
      const name = answered(ctx, 'user_name', 'name')
      if (typeof name === 'string') return text(`Hello, ${name}!`)
      return inputRequired({
        inputRequests: { user_name: ask('What is your name?', { ...NAME_FORM, required: ['name'] }) },
      })
    },
  },
  test_streaming_elicitation: {
    call: () =>
      inputRequired({ inputRequests: { user_name: ask('What is your name?', { ...NAME_FORM, required: ['name'] }) } }),
  },
  test_input_required_result_sampling: {
    call(_, ctx) {
      const answer = inputResponse(ctx.mcpReq.inputResponses, 'capital_question')
      if (answer.kind === 'sampling') return text(JSON.stringify(answer.result.content))
      return inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?', 100) } })
    },
  },
  test_input_required_result_list_roots: {
    call(_, ctx) {
      const answer = inputResponse(ctx.mcpReq.inputResponses, 'client_roots')
      if (answer.kind === 'roots') return text(`Roots: ${answer.roots.map(({ uri }) => uri).join(', ')}`)
      return inputRequired({ inputRequests: { client_roots: ROOTS } })
    },
  },
  test_input_required_result_request_state: { call: (_, ctx) => confirmed(ctx, 'state-ok') },
  test_input_required_result_tampered_state: { call: (_, ctx) => confirmed(ctx, 'untouched') },
  test_input_required_result_multiple_inputs: {
    async call(_, ctx) {
      const state = ctx.mcpReq.requestState<string>()
      const name = answered(ctx, 'user_name', 'name')
      if (state === 'asked' && name !== undefined) return text(`Hello, ${JSON.stringify(name)}!`)
      const inputRequests = {
        user_name: ask('What is your name?', { ...NAME_FORM, required: ['name'] }),
        greeting: sample('Generate a greeting', 50),
        client_roots: ROOTS,
      }
      return inputRequired({ inputRequests, requestState: await codec.mint('asked') })
    },
  },
  test_input_required_result_multi_round: {
    async call(_, ctx) {
      const state = ctx.mcpReq.requestState<string>()
      const color = { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] } satisfies Schema
      if (state === 'second') return text(`The color is ${String(answered(ctx, 'step2', 'color'))}.`)
      const [key, asked, next] =
        state === 'first'
          ? (['step2', ask('Step 2: What is your favorite color?', color), 'second'] as const)
          : (['step1', ask('Step 1: What is your name?', { ...NAME_FORM, required: ['name'] }), 'first'] as const)
      return inputRequired({ inputRequests: { [key]: asked }, requestState: await codec.mint(next) })
    },
  },
  test_input_required_result_capabilities: {
    call(_, ctx) {
      const { sampling, elicitation } = capabilitiesOf(ctx)
      const inputRequests: InputRequests = {
        ...(sampling === undefined ? {} : { question: sample('What is the capital of France?', 100) }),
        ...(elicitation === undefined
          ? {}
          : { user_name: ask('What is your name?', { ...NAME_FORM, required: ['name'] }) }),
      }
      return inputRequired({ inputRequests })
    },
  },
  test_missing_capability: {
    call(_, ctx) {
      const { sampling } = capabilitiesOf(ctx)
      if (sampling === undefined)
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } })
      return text('The client can sample.')
    },
  },
}

function capabilitiesOf(ctx: ServerContext): ClientCapabilities {
  // The SDK types the envelope without its keys.
  const envelope = ctx.mcpReq.envelope as Readonly<Record<string, ClientCapabilities | undefined>> | undefined
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {}
}

async function confirmed(ctx: ServerContext, word: string): Promise<ToolResult> {
  const state = ctx.mcpReq.requestState<string>()
  if (state === word && answered(ctx, 'confirm', 'ok') !== undefined) return text(word)
  const form = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } satisfies Schema
  return inputRequired({
    inputRequests: { confirm: ask('Please confirm', form) },
    requestState: await codec.mint(word),
  })
}

export const FEATURES: Readonly<Record<string, Feature>> = { ...contents, ...events, ...requests, ...rounds }

interface Prompt {
  readonly arguments: readonly string[]
  readonly get: (args: Arguments, ctx: ServerContext) => GetPromptResult | InputRequiredResult
}

const said = (words: string): GetPromptResult['messages'][number] => ({
  role: 'user',
  content: { type: 'text', text: words },
})

export const PROMPTS: Readonly<Record<string, Prompt>> = {
  test_simple_prompt: { arguments: [], get: () => ({ messages: [said('This is a simple prompt for testing.')] }) },
  test_prompt_with_arguments: {
    arguments: ['arg1', 'arg2'],
    get: ({ arg1, arg2 }) => ({
      messages: [said(`Prompt with arguments: arg1='${String(arg1)}', arg2='${String(arg2)}'`)],
    }),
  },
  test_prompt_with_embedded_resource: {
    arguments: ['resourceUri'],
    get({ resourceUri }) {
      const resource = {
        uri: String(resourceUri),
        mimeType: 'text/plain',
        text: 'Embedded resource content for testing.',
      }
      return {
        messages: [
          { role: 'user', content: { type: 'resource', resource } },
          said('Please process the embedded resource above.'),
        ],
      }
    },
  },
  test_prompt_with_image: {
    arguments: [],
    get: () => ({
      messages: [
        { role: 'user', content: { type: 'image', data: PIXEL, mimeType: 'image/png' } },
        said('Please analyze the image above.'),
      ],
    }),
  },
  test_input_required_result_prompt: {
    arguments: [],
    get(_, ctx) {
      const context = answered(ctx, 'user_context', 'context')
      if (typeof context === 'string') return { messages: [said(`In the context of ${context}.`)] }
      const form = {
        type: 'object',
        properties: { context: { type: 'string' } },
        required: ['context'],
      } satisfies Schema
      return inputRequired({ inputRequests: { user_context: ask('What context should the prompt use?', form) } })
    },
  },
}

/** By address; undefined where there is nothing. */
export function resourceAt(
  uri: string,
): { readonly mimeType: string; readonly text: string } | { mimeType: string; blob: string } | undefined {
  if (uri === 'test://static-text') {
    return { mimeType: 'text/plain', text: 'This is the content of the static text resource.' }
  }
  if (uri === 'test://static-binary') return { mimeType: 'image/png', blob: PIXEL }
  if (uri === 'test://watched-resource') return { mimeType: 'text/plain', text: 'Watched.' }
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  if (id === undefined) return undefined
  return { mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }
}
