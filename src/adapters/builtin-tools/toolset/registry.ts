/** A registry in which the tools of our own stand before those of the session's servers. */
import type { ToolCallOptions, ToolList, ToolRegistry } from '../../../ports/tools.ts'
import { openInFlightCalls } from '../../mcp/host/in-flight-calls.ts'
import type { Toolset } from './toolset.ts'

export function withOwnTools(inner: ToolRegistry, own: Toolset): ToolRegistry {
  const calls = openInFlightCalls()
  const joined = joining(own)
  let isClosed = false
  const shown = (list: ToolList) => (isClosed ? list : joined(list))

  async function close(): Promise<void> {
    isClosed = true
    calls.end()
    await Promise.all([inner.close(), own.release()])
  }

  return {
    list: () => shown(inner.list()),
    ready: async (limitMs, signal) => shown(await inner.ready(limitMs, signal)),
    preview: (name, args, caller) =>
      own.has(name) ? own.preview(name, args, caller) : inner.preview(name, args, caller),
    call(name, args, options: ToolCallOptions) {
      if (!own.has(name)) return inner.call(name, args, options)
      return calls.run(name, options, (bounded) => own.call(name, args, bounded))
    },
    read: (server, uri, options) => inner.read(server, uri, options),
    prompt: (name, args, options) => inner.prompt(name, args, options),
    complete: (server, request, options) => inner.complete(server, request, options),
    onChange: (listener) => inner.onChange((list) => listener(shown(list))),
    async drain() {
      await Promise.all([calls.finish(), inner.drain()])
      await close()
    },
    close,
  }
}

/** The same picture for the same list: who holds one can tell whether it has changed. */
function joining(own: Toolset): (list: ToolList) => ToolList {
  const made = new WeakMap<ToolList, ToolList>()
  return (list) => {
    const known = made.get(list)
    if (known !== undefined) return known
    const joint = Object.freeze({ ...list, tools: Object.freeze([...own.tools, ...list.tools]) })
    made.set(list, joint)
    return joint
  }
}
