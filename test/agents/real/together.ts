/**
 * `npm run conformance -- together [NAME]`: two editors and a terminal on one session of a real agent (claude), whose server is
 * killed in the middle of a turn that one prompts, another approves and the third watches. Prints what each of them sees.
 */
import { type Message, allowing, textOf, updatesIn } from '../../e2e/message.ts'
import { promptOf } from '../../e2e/parley.ts'
import type { RawClient } from '../../e2e/raw-client.ts'
import { until } from '../../fixtures/process/running.ts'
import { DIRECTORY, isInside } from './namespace.ts'
import { setups } from './setups.ts'
import { type Terminal, World } from './world.ts'

const PATIENCE_MS = 60_000

/** What happened, in its order: the words of one are gathered until something else happens to it. */
class Transcript {
  readonly #open = new Map<string, string>()

  says(who: string, what: string): void {
    this.#flush(who)
    process.stdout.write(`${who.padEnd(9)} ${what}\n`)
  }

  hears(who: string, text: string): void {
    this.#open.set(who, (this.#open.get(who) ?? '') + text)
  }

  flush(): void {
    for (const who of this.#open.keys()) this.#flush(who)
  }

  #flush(who: string): void {
    const text = (this.#open.get(who) ?? '').replaceAll(/\s+/gu, ' ').trim()
    this.#open.delete(who)
    const shown = text.length > 60 ? `${text.slice(0, 28)} … ${text.slice(-28)}` : text
    if (shown !== '') process.stdout.write(`${who.padEnd(9)}   ${shown}\n`)
  }
}

class Together {
  readonly #world: World
  readonly #told = new Transcript()
  readonly #editors = new Map<string, RawClient>()
  #session = ''
  #terminal: Terminal | undefined
  #approved = false

  constructor(world: World) {
    this.#world = world
  }

  async play(): Promise<void> {
    const ann = await this.#editor('editor A')
    const opened = await ann.request('session/new', this.#place)
    this.#session = String(opened.result?.['sessionId'])
    const bob = await this.#editor('editor B')
    await bob.request('session/load', { ...this.#place, sessionId: this.#session })
    this.#terminal = this.#world.terminal('attach', this.#session)
    this.#terminal.heard = (text) => this.#told.hears('terminal', text)

    this.#told.says('editor A', '> #work willow')
    const cut = ann.request('session/prompt', promptOf(this.#session, '#work willow'))
    await this.#all('willow 20 ')
    this.#told.flush()
    this.#told.says('', '--- kill -9 of the server ---')
    await this.#world.killServer()
    const { error, result } = await cut
    this.#told.says('editor A', `its prompt is answered: ${String(error?.data?.['code'] ?? result?.['stopReason'])}`)

    this.#told.says('editor B', '> #say aspen')
    const next = await bob.request('session/prompt', promptOf(this.#session, '#say aspen'))
    await this.#all('said aspen.')
    this.#told.flush()
    this.#told.says('editor B', `its prompt is answered: ${JSON.stringify(next.result?.['stopReason'] ?? next.error)}`)
    await this.#compare(ann, bob)
  }

  get #place() {
    return { cwd: this.#world.cwd, mcpServers: [] }
  }

  async #editor(who: string): Promise<RawClient> {
    const client = await this.#world.client()
    client.listen((message) => this.#heard(who, client, message))
    this.#editors.set(who, client)
    return client
  }

  #heard(who: string, client: RawClient, message: Message): void {
    if (message.method === 'session/request_permission') return this.#asked(who, client, message)
    if (message.method === '_parley/resolved' || message.method === '$/cancel_request')
      return this.#told.says(who, 'the question is withdrawn: it was answered elsewhere')
    for (const seen of updatesIn([message], this.#session)) {
      const { update } = seen
      const { sessionUpdate, title, status } = update as { sessionUpdate: string; title?: string; status?: string }
      if (sessionUpdate === 'agent_message_chunk') this.#told.hears(who, textOf(seen))
      else if (sessionUpdate === 'user_message_chunk') this.#told.says(who, `sees the prompt ${textOf(seen)}`)
      else if (sessionUpdate.startsWith('tool_call') && status !== undefined)
        this.#told.says(who, `sees the call ${title ?? ''} ${status}`.replaceAll(/\s+/gu, ' '))
    }
  }

  #asked(who: string, client: RawClient, message: Message): void {
    this.#told.says(who, 'is asked for permission')
    if (who !== 'editor B' || this.#approved) return
    this.#approved = true
    const optionId = allowing(message)
    this.#told.says(who, `allows it: ${optionId}`)
    client.reply(message.id, { outcome: { outcome: 'selected', optionId } })
  }

  /** Until each of the three has seen it. */
  async #all(text: string): Promise<void> {
    const has = (client: RawClient): boolean => this.#text(client).includes(text)
    const isEverywhere = (): boolean =>
      [...this.#editors.values()].every(has) && this.#terminal?.text.includes(text.trim()) === true
    await until(isEverywhere, PATIENCE_MS)
  }

  #text(client: RawClient): string {
    const updates = updatesIn(client.received, this.#session)
    return updates.map((seen) => (seen.update.sessionUpdate === 'agent_message_chunk' ? textOf(seen) : '')).join('')
  }

  async #compare(ann: RawClient, bob: RawClient): Promise<void> {
    const shown = await this.#world.says('show', this.#session)
    // Where the prompt came from its answer says that it was cut; the others read it.
    const words = (text: string): string =>
      text.replaceAll(/\s+/gu, ' ').replace(/Interrupted: the server .*? to continue\./u, '')
    const [seen, other] = [words(this.#text(ann)), words(this.#text(bob))]
    const cut = /(?:willow \d+ ){20,}/u.exec(seen)?.[0] ?? 'nothing'
    const written = this.#world.promptsWritten
    const checks: readonly (readonly [string, boolean])[] = [
      ['both editors saw the same words, in the same order', seen === other],
      ['parley show has all that was seen', words(shown).includes(cut.trim()) && shown.includes('said aspen.')],
      ['the agent knew of the cut turn', this.#world.lastAsked('#say aspen').includes('willow')],
      ['each prompt was written to the agent once', new Set(written).size === written.length && written.length === 2],
    ]
    await this.#world.says('stop')
    const isEmpty = await until(() => this.#world.agentProcesses.length === 0, 10_000).then(
      () => true,
      () => false,
    )
    process.stdout.write('\n')
    for (const [what, holds] of [...checks, ['no process is left', isEmpty] as const]) {
      process.stdout.write(`${holds ? 'yes' : 'NO '}  ${what}\n`)
      if (!holds) process.exitCode = 1
    }
  }
}

if (await isInside(import.meta.filename)) {
  const [name = 'claude'] = process.argv.slice(2)
  const setup = setups.find((one) => one.name === name)
  if (setup === undefined) throw new Error(`no agent ${name}; there are ${setups.map((one) => one.name).join(', ')}`)
  const world = await World.open(setup, DIRECTORY)
  try {
    await new Together(world).play()
  } finally {
    await world.close()
  }
}
