/** A tool registry whose tools do what the test says. */
import type { Tool, ToolHost, ToolHostRequest, ToolRegistry, ToolResult } from '../../src/ports/tools.ts'

export type Run = (args: unknown) => Promise<ToolResult>

export class TestTools implements ToolHost {
  /** By registry name. */
  readonly tools = new Map<string, { readonly tool: Tool; readonly run: Run }>()
  readonly opened: ToolHostRequest[] = []
  /** Registries that were opened and not closed. */
  running = 0
  readonly called: string[] = []

  add(name: string, run: Run, claims: Partial<Tool> = {}): void {
    const tool = {
      name,
      original: name,
      title: name,
      description: '',
      inputSchema: {},
      server: 'test',
      trusted: false,
      readOnly: false,
    }
    this.tools.set(name, { tool: { ...tool, ...claims }, run })
  }

  open(request: ToolHostRequest): ToolRegistry {
    this.opened.push(request)
    this.running += 1
    let closed = false
    const list = () => ({ version: 1, tools: [...this.tools.values()].map(({ tool }) => tool), servers: [] })
    const close = async (): Promise<void> => {
      if (!closed) this.running -= 1
      closed = true
    }
    return {
      list,
      ready: async () => list(),
      call: async (name, args) => {
        if (closed) throw new Error('the registry is closed')
        this.called.push(name)
        return this.tools.get(name)?.run(args) ?? { content: [], isError: true }
      },
      onChange: () => () => {},
      retire: close,
      close,
    }
  }
}
