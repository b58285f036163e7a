/** What is tried with each real agent, in this order, on one session: each case says what was seen. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Fields, type Message, allowing, textOf, updatesIn } from '../../e2e/message.ts'
import { promptOf } from '../../e2e/parley.ts'
import type { RawClient } from '../../e2e/raw-client.ts'
import { until } from '../../fixtures/process/running.ts'
import { importsOwnSession } from './own-sessions.ts'
import type { World } from './world.ts'

interface Option {
  readonly id: string
  readonly category?: string
  readonly currentValue: string
  readonly options?: readonly { readonly value?: string; readonly options?: readonly { readonly value: string }[] }[]
}

/** A case fails by throwing; what it gives is a word about what was seen. */
export class Cases {
  readonly #world: World
  readonly #first: RawClient
  readonly #session: string
  readonly #prompts: string[] = []
  #second: RawClient | undefined
  #options: readonly Option[]

  private constructor(world: World, first: RawClient, opened: Fields) {
    this.#world = world
    this.#first = first
    this.#session = String(opened['sessionId'])
    this.#options = (opened['configOptions'] ?? []) as readonly Option[]
    first.listen((message) => this.#allow(first, message))
  }

  static async open(world: World): Promise<Cases> {
    const first = await world.client()
    return new Cases(world, first, resultOf(await first.request('session/new', { cwd: world.cwd, mcpServers: [] })))
  }

  /** By the title that the table shows. */
  readonly all: Readonly<Record<string, () => Promise<string>>> = {
    prompt: () => this.#says('cedar'),
    'tool with permission': () => this.#tool('maple'),
    'session/list': () => this.#list(),
    'load by a second client': () => this.#load(),
    'options from two clients': () => this.#set(),
    cancel: () => this.#cancel(),
    'kill -9 of the server': () =>
      this.#killed('willow', { kill: () => this.#world.killServer(), code: 'TURN_INTERRUPTED' }),
    'prompt after it': () => this.#knows('aspen', ['cedar']),
    'kill -9 of the agent': () =>
      this.#killed('poplar', { kill: async () => void this.#world.killAgent(), code: 'AGENT_GONE' }),
    'prompt after that': () => this.#knows('linden', ['cedar', 'aspen']),
    'load after both': () => this.#kept(['said cedar.', 'said aspen.', 'said linden.'], ['rowan', 'willow', 'poplar']),
    import: () => importsOwnSession(this.#world),
    'each prompt sent once': () => this.#sentOnce(),
    'no process left': () => this.#left(),
  }

  async #says(word: string): Promise<string> {
    const stopReason = stopOf(await this.#prompt(`#say ${word}`))
    if (!this.#text(this.#first).includes(`said ${word}.`)) throw new Error(`${stopReason}, without its text`)
    return stopReason
  }

  async #tool(word: string): Promise<string> {
    const asked = () => this.#first.received.filter(({ method }) => method === 'session/request_permission').length
    const before = asked()
    const stopReason = stopOf(await this.#prompt(`#tool ${word}`))
    const ran = existsSync(join(this.#world.cwd, `${word}.txt`))
    if (!ran)
      throw new Error(
        `${stopReason}, asked ${asked() - before} times, the command did not run: ${this.#text(this.#first).slice(-80)}`,
      )
    if (asked() === before) throw new Error(`ran unasked, ${stopReason}`)
    return `asked, ran, ${stopReason}`
  }

  async #list(): Promise<string> {
    const { sessions } = resultOf(await this.#first.request('session/list', {})) as { sessions: readonly Fields[] }
    const found = sessions.find(({ sessionId }) => sessionId === this.#session)
    if (found === undefined) throw new Error('the session is not listed')
    return `listed as ${JSON.stringify(found['title'])}`
  }

  async #load(): Promise<string> {
    const second = (this.#second = await this.#world.client())
    const params = { sessionId: this.#session, cwd: this.#world.cwd, mcpServers: [] }
    const loaded = resultOf(await second.request('session/load', params))
    this.#options = (loaded['configOptions'] ?? this.#options) as readonly Option[]
    const here = this.#text(second)
    if (!here.includes('said cedar.')) throw new Error(`the text is missing: ${here.slice(0, 100)}`)
    if (here !== this.#text(this.#first)) throw new Error('not the text that the first client saw')
    return 'the same text'
  }

  async #set(): Promise<string> {
    const found = this.#options.flatMap((option) => valuesOf(option).map((value) => ({ option, value })))
    const other = found.find(({ option, value }) => value !== option.currentValue)
    if (this.#second === undefined) throw new Error('there is no second client')
    if (other === undefined) return `nothing to choose (${this.#options.length} options)`
    const { option, value } = other
    const params = { sessionId: this.#session, configId: option.id, value }
    resultOf(await this.#second.request('session/set_config_option', params))
    await this.#first.until((message) => isSet(message, option.id, value))
    resultOf(await this.#first.request('session/set_config_option', { ...params, value: option.currentValue }))
    await this.#second.until((message) => isSet(message, option.id, option.currentValue))
    return `${option.id}: both saw both`
  }

  async #cancel(): Promise<string> {
    const answer = this.#prompt('#long rowan')
    await this.#hears('rowan 5 ')
    this.#first.notify('session/cancel', { sessionId: this.#session })
    return stopOf(await answer)
  }

  /** Something dies in the middle of a turn; whoever asked still gets an answer that says so. */
  async #killed(word: string, { kill, code }: { kill: () => Promise<void>; code: string }): Promise<string> {
    const answer = this.#prompt(`#long ${word}`)
    await this.#hears(`${word} 5 `)
    await kill()
    const { result, error } = await answer
    const said = error === undefined ? String(result?.['stopReason']) : String(error.data?.['code'])
    if (said !== code) throw new Error(`answered ${said}: ${error?.message ?? ''}`)
    return said
  }

  async #knows(word: string, before: readonly string[]): Promise<string> {
    const how = await this.#says(word)
    const asked = this.#world.lastAsked(`#say ${word}`)
    const lost = before.filter((one) => !asked.includes(`said ${one}.`))
    if (lost.length > 0) throw new Error(`${how}, but the agent does not know of ${lost.join(', ')}`)
    return `${how}, knows all`
  }

  /** Somebody who comes after all that is told what the first client saw, the beginnings of the cut turns with it. */
  async #kept(whole: readonly string[], cut: readonly string[]): Promise<string> {
    const third = await this.#world.client()
    resultOf(await third.request('session/load', { sessionId: this.#session, cwd: this.#world.cwd, mcpServers: [] }))
    const [seen, told] = [this.#text(this.#first), this.#text(third)]
    const beginnings = cut.map((word) => new RegExp(`(?:${word} \\d+ )+`, 'u').exec(seen)?.[0] ?? word)
    const lost = [...whole, ...beginnings].find((text) => !told.includes(text))
    if (lost !== undefined) throw new Error(`lost: …${lost.slice(-60)}`)
    await third.leave()
    return 'all that was seen'
  }

  /** What Parley wrote to the agent, over all that was killed. */
  async #sentOnce(): Promise<string> {
    const written = this.#world.promptsWritten
    const twice = written.filter((text, at) => written.indexOf(text) !== at)
    if (twice.length > 0) throw new Error(`sent twice: ${twice.join(', ')}`)
    const lost = this.#prompts.filter((text) => !written.includes(text))
    if (lost.length > 0) throw new Error(`never sent: ${lost.join(', ')}`)
    return `${written.length} prompts, each once`
  }

  async #left(): Promise<string> {
    for (const client of [this.#first, this.#second]) await client?.leave()
    await this.#world.says('stop')
    await until(() => this.#world.agentProcesses.length === 0, 10_000)
    return 'after parley stop'
  }

  #prompt(text: string): Promise<Message> {
    this.#prompts.push(text)
    return this.#first.request('session/prompt', promptOf(this.#session, text))
  }

  async #hears(text: string): Promise<void> {
    await until(() => this.#text(this.#first).includes(text))
  }

  #text(client: RawClient): string {
    const updates = updatesIn(client.received, this.#session)
    const said = updates.filter(({ update }) => update.sessionUpdate === 'agent_message_chunk')
    return said.map((update) => textOf(update)).join('')
  }

  #allow(client: RawClient, message: Message): void {
    if (message.method !== 'session/request_permission') return
    client.reply(message.id, { outcome: { outcome: 'selected', optionId: allowing(message) } })
  }
}

function valuesOf({ options = [] }: Option): readonly string[] {
  return options.flatMap(({ value, options: inner }) => inner?.map((one) => one.value) ?? value ?? [])
}

function isSet(message: Message, id: string, value: string): boolean {
  return updatesIn([message]).some(({ update }) => {
    const options = (update['configOptions'] ?? []) as readonly Option[]
    return options.some((option) => option.id === id && option.currentValue === value)
  })
}

function stopOf(message: Message): string {
  return String(resultOf(message)['stopReason'])
}

function resultOf({ result, error }: Message): Fields {
  if (result === undefined) throw new Error(`${error?.code} ${error?.message.slice(0, 160)}`)
  return result
}
