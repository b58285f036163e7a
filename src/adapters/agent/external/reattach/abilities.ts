/** What an agent can do with sessions, from its capabilities and from the row of its quirks. */
import type { PromptKinds } from '../../../../ports/agent.ts'
import { fieldsOf, isFields } from '../../../../rpc/json-rpc.ts'
import type { Quirks } from '../quirks.ts'

export class AgentAbilities {
  readonly #capabilities: Readonly<Record<string, unknown>>
  readonly #session: Readonly<Record<string, unknown>>
  readonly #quirks: Quirks

  constructor(capabilities: Readonly<Record<string, unknown>>, quirks: Quirks) {
    this.#capabilities = capabilities
    this.#session = fieldsOf(capabilities['sessionCapabilities'])
    this.#quirks = quirks
  }

  get canLoad(): boolean {
    return this.#capabilities['loadSession'] === true && this.#quirks.useLoad
  }

  get canResume(): boolean {
    return isFields(this.#session['resume']) && this.#quirks.useResume
  }

  get canList(): boolean {
    return isFields(this.#session['list'])
  }

  get canClose(): boolean {
    return isFields(this.#session['close'])
  }

  get canDelete(): boolean {
    return isFields(this.#session['delete'])
  }

  get canFork(): boolean {
    return isFields(this.#session['fork']) && this.#quirks.useFork
  }

  /** It takes a text as system prompt, behind its own. */
  get takesSystemPrompt(): boolean {
    return isFields(this.#session['systemPrompt'])
  }

  get hasRoots(): boolean {
    return isFields(this.#session['additionalDirectories'])
  }

  get mcp(): { readonly http: boolean; readonly sse: boolean } {
    const { http, sse } = fieldsOf(this.#capabilities['mcpCapabilities'])
    return { http: http === true, sse: sse === true }
  }

  get promptKinds(): PromptKinds {
    const { image, audio, embeddedContext } = fieldsOf(this.#capabilities['promptCapabilities'])
    return { image: image === true, audio: audio === true, embeddedContext: embeddedContext === true }
  }

  /** For the journal. */
  get names(): readonly string[] {
    const { canLoad, canResume, canList, canClose, canDelete } = this
    const all = { load: canLoad, resume: canResume, list: canList, close: canClose, delete: canDelete }
    return Object.entries(all).flatMap(([name, has]) => (has ? [name] : []))
  }
}
