/** A tool registry whose tools do what the test says. */
import type {
  Resource,
  ServerStatus,
  Tool,
  ToolCallOptions,
  ToolHost,
  ToolHostRequest,
  ToolPreview,
  ToolRegistry,
  ToolResult,
} from '../../src/ports/tools.ts'

export type Run = (args: unknown, options: ToolCallOptions) => Promise<ToolResult>

export class TestTools implements ToolHost {
  /** By registry name. */
  readonly tools = new Map<string, { readonly tool: Tool; readonly run: Run; preview?: ToolPreview }>()
  readonly opened: ToolHostRequest[] = []
  /** Called whenever what there is is listed; may throw. */
  listing: () => void = () => {}
  /** Registries that were opened and not closed. */
  running = 0
  readonly called: string[] = []
  /** Who is told of changes, for each registry that is open. */
  /** What the server `test` offers to be read, and what it says then. */
  resources: readonly Resource[] = []
  readonly texts = new Map<string, string>()
  readonly #listeners = new Set<() => void>()
  readonly #states = new Map<string, ServerStatus['state']>()
  /** What each registry that is open was opened with. */
  readonly current = new Set<ToolHostRequest>()

  add(name: string, run: Run, claims: Partial<Tool> = {}): void {
    const tool = {
      name,
      serverToolName: name,
      title: name,
      description: '',
      inputSchema: {},
      server: 'test',
      builtin: false,
      readOnly: false,
      definitionHash: name,
    }
    this.tools.set(name, { tool: { ...tool, ...claims }, run })
  }

  /** What a named server does from now on. */
  become(name: string, state: ServerStatus['state']): void {
    this.#states.set(name, state)
    for (const listener of this.#listeners) listener()
  }

  open(request: ToolHostRequest): ToolRegistry {
    this.opened.push(request)
    this.running += 1
    let closed = false
    this.current.add(request)
    const list = () => {
      this.listing()
      return {
        version: 1,
        resources: this.resources,
        templates: [],
        prompts: [],
        servers: request.servers.map(({ name }) => this.#status(name)),
        tools: [...this.tools.values()].map(({ tool }) => tool),
      }
    }
    const close = async (): Promise<void> => {
      if (!closed) this.running -= 1
      closed = true
      this.current.delete(request)
    }
    return {
      list,
      ready: async () => list(),
      call: async (name, args, options) => {
        if (closed) throw new Error('the registry is closed')
        this.called.push(name)
        return this.tools.get(name)?.run(args, options) ?? { content: [], isError: true }
      },
      preview: async (name) => this.tools.get(name)?.preview ?? { kind: 'other' },
      read: async (_server, uri) => {
        const text = this.texts.get(uri)
        if (text === undefined) throw new Error('there is no such thing')
        return [{ uri, text }]
      },
      prompt: async () => [],
      complete: async () => [],
      onChange: (listener) => {
        const told = () => listener(list())
        this.#listeners.add(told)
        return () => void this.#listeners.delete(told)
      },
      drain: close,
      close,
    }
  }

  #status(name: string): ServerStatus {
    return { name, title: name, state: this.#states.get(name) ?? 'ready', tools: 0 }
  }
}
