/** The sessions of a fake agent on its disk: what a real agent keeps between its processes. One file a session, a line an update. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Updates that are a part of the conversation, and so of its replay. */
const TOLD = new Set([
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
])

export class Store {
  #folder
  #plan
  #over
  /** What clients have set, by session, in this process. */
  #set = new Map()
  /** The words of turns that run, if only finished turns are kept. */
  #unfinished = new Map()

  constructor(home, plan, over) {
    this.#folder = join(home, 'sessions')
    this.#plan = plan
    this.#over = over
    mkdirSync(this.#folder, { recursive: true })
  }

  create(cwd, lines = []) {
    for (let number = 1; ; number += 1) {
      const id = `fake-${number}`
      if (!this.#plan.reusesIds && existsSync(this.#file(id, '.gone'))) continue
      try {
        writeFileSync(this.#file(id), `${JSON.stringify({ cwd })}\n`, { flag: 'wx' })
      } catch {
        // Another process has made this one.
        continue
      }
      for (const line of lines) this.#write(id, line)
      return id
    }
  }

  /** Undefined if it has no such session, or says so. */
  read(id) {
    if (typeof id !== 'string' || !/^[\w-]+$/u.test(id) || !existsSync(this.#file(id))) return undefined
    const [first, ...lines] = readFileSync(this.#file(id), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const prompts = lines.filter(({ prompt }) => prompt !== undefined)
    if (this.#plan.dropsUnprompted && prompts.length === 0) return undefined
    return { id, cwd: first.cwd, lines, prompts: prompts.length, updatedAt: lines.findLast(({ at }) => at)?.at }
  }

  /** What it knows of the session, this turn with it. */
  known(id) {
    return this.read(id)?.prompts ?? 0
  }

  prompted(id, prompt) {
    if (this.#plan.keeps !== 'nothing') this.#write(id, { prompt, at: new Date().toISOString() })
  }

  told(id, update) {
    if (!TOLD.has(update?.sessionUpdate) || ['prompts', 'nothing'].includes(this.#plan.keeps)) return
    if (this.#plan.keeps === 'finished') this.#unfinished.set(id, [...(this.#unfinished.get(id) ?? []), { update }])
    else this.#write(id, { update })
  }

  ended(id) {
    for (const line of this.#unfinished.get(id) ?? []) this.#write(id, line)
    this.#unfinished.delete(id)
    if (this.#plan.keeps !== 'nothing') this.#write(id, { end: true, at: new Date().toISOString() })
  }

  fork(id, cwd) {
    return this.create(cwd, this.read(id).lines)
  }

  delete(id) {
    if (existsSync(this.#file(id))) renameSync(this.#file(id), this.#file(id, '.gone'))
  }

  list(cursor = '0') {
    const ids = readdirSync(this.#folder).flatMap((name) => /^(.+)\.jsonl$/u.exec(name)?.[1] ?? [])
    const all = ids.toSorted().flatMap((id) => this.read(id) ?? [])
    const from = Number(cursor)
    const to = from + (this.#plan.pageSize ?? 50)
    const sessions = all.slice(from, to).map(({ id, cwd, updatedAt }) => ({ sessionId: id, cwd, title: id, updatedAt }))
    return to < all.length ? { sessions, nextCursor: String(to) } : { sessions }
  }

  /** `modes`, `configOptions` and `models` with the values that were set. */
  offer(id) {
    const { modes, ...others } = this.#plan.settings ?? {}
    const set = this.#values(id)
    const configOptions = others.configOptions?.map((option) =>
      option.id in set ? { ...option, currentValue: set[option.id] } : option,
    )
    return {
      ...others,
      ...(modes && { modes: { ...modes, currentModeId: set['mode '] ?? modes.currentModeId } }),
      ...(configOptions && { configOptions }),
    }
  }

  setMode(id, modeId) {
    this.set(id, 'mode ', modeId)
  }

  set(id, key, value) {
    this.#set.set(id, { ...this.#values(id), [key]: value })
    if (this.#plan.keepsSettings) this.#write(id, { set: { [key]: value } })
  }

  /** The updates of a replay, in order, as this agent tells them. */
  replay(id) {
    const { changes = [] } = this.#plan.replay ?? {}
    const updates = this.read(id).lines.flatMap(({ prompt, update }) =>
      prompt ? prompt.map(userChunk) : (update ?? []),
    )
    return changes.reduce((all, change) => CHANGES[change](all), updates)
  }

  #values(id) {
    const kept = this.#plan.keepsSettings ? (this.read(id)?.lines ?? []).flatMap(({ set }) => set ?? []) : []
    return this.#set.get(id) ?? Object.assign({}, ...kept)
  }

  #write(id, line) {
    // A session that was deleted meanwhile does not come back, and a process that has ended writes no more.
    if (!this.#over.aborted && existsSync(this.#file(id))) appendFileSync(this.#file(id), `${JSON.stringify(line)}\n`)
  }

  #file(id, ending = '.jsonl') {
    return join(this.#folder, `${id}${ending}`)
  }
}

const isUser = ({ sessionUpdate }) => sessionUpdate === 'user_message_chunk'
const isChunk = ({ sessionUpdate, content }) => sessionUpdate.endsWith('_chunk') && content.type === 'text'

function userChunk(content) {
  return { sessionUpdate: 'user_message_chunk', content }
}

const CHANGES = {
  empty: () => [],
  doubled: (all) => all.flatMap((one) => [one, one]),
  reversed: (all) => all.toReversed(),
  merged: (all) => all.reduce(merge, []),
  'no ids': (all) => all.map((one) => ({ ...one, messageId: undefined })),
  'no thoughts': (all) => all.filter(({ sessionUpdate }) => sessionUpdate !== 'agent_thought_chunk'),
  'no calls': (all) => all.filter(({ sessionUpdate }) => !sessionUpdate.startsWith('tool_call')),
  'pseudo users': (all) => [userChunk({ type: 'text', text: '<session_context>\nToday\n</session_context>' }), ...all],
  'last turn lost': (all) => all.slice(0, Math.max(0, all.findLastIndex(isUser))),
}

function merge(all, one) {
  const last = all.at(-1)
  if (last === undefined || !isChunk(one) || !isChunk(last) || last.sessionUpdate !== one.sessionUpdate)
    return [...all, one]
  return [...all.slice(0, -1), { ...last, content: { type: 'text', text: last.content.text + one.content.text } }]
}
