/** What a fake agent can do. Each move of a case is one key of `MOVES`; they are played one after the other. */
import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'

const OPTIONS = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
]

const CALL = { toolCallId: 'call-1', title: 'Run it', kind: 'execute', status: 'pending' }

/** Ends with an abort if `scene.signal` says so. */
export async function play(moves, scene) {
  for (const move of moves) {
    scene.signal.throwIfAborted()
    const kind = Object.keys(move).find((key) => key in MOVES)
    if (kind === undefined) throw new Error(`no such move: ${JSON.stringify(move)}`)
    await MOVES[kind](move, scene)
  }
}

const MOVES = {
  async chunk({ chunk, role = 'agent', messageId }, scene) {
    const sessionUpdate = role === 'thought' ? 'agent_thought_chunk' : `${role}_message_chunk`
    const content = { type: 'text', text: scene.filled(chunk) }
    scene.update({ sessionUpdate, content, ...(messageId && { messageId: scene.filled(messageId) }) })
  },
  async update({ update }, scene) {
    scene.update(scene.filled(update))
  },
  async notify({ notify, params }, scene) {
    scene.wire.send({ method: notify, ...(params && { params: scene.filled(params) }) })
  },
  request: ({ request, params, ...others }, scene) => ask({ method: request, params, ...others }, scene),
  permission({ permission: { toolCall = CALL, options = OPTIONS }, ...others }, scene) {
    return ask({ method: 'session/request_permission', params: { toolCall, options }, ...others }, scene)
  },
  async answer({ answer }, scene) {
    scene.answer({ result: scene.filled(answer) })
  },
  async fail({ fail }, scene) {
    scene.answer({ error: scene.filled(fail) })
  },
  async silent(_, scene) {
    scene.fate.isSilent = true
  },
  wait: ({ wait }, scene) => setTimeout(wait, undefined, { signal: scene.signal }),
  untilCancel: (_, scene) => aborted(scene.signal),
  async gate({ gate }, scene) {
    scene.log({ mark: `at ${gate}` })
    while (!existsSync(join(scene.home, 'gates', gate))) await setTimeout(5, undefined, { signal: scene.signal })
  },
  async mark({ mark }, scene) {
    scene.log({ mark: scene.filled(mark) })
  },
  async repeat({ repeat, moves }, scene) {
    for (let n = 1; n <= repeat; n += 1) {
      await play(moves, scene.with({ n }))
      // Whatever came meanwhile, such as a cancel, is read now and then.
      if (n % 50 === 0) await setImmediate()
    }
  },
  first({ first, name, moves, later = [] }, scene) {
    return play(timesBefore(scene.home, name) < first ? moves : later, scene)
  },
  if({ if: text, moves, else: others = [] }, scene) {
    return play(JSON.stringify(scene.request ?? {}).includes(text) ? moves : others, scene)
  },
  async glue({ glue }, scene) {
    const text = await scene.wire.held(() => play(glue, scene))
    scene.wire.write(text)
  },
  async pieces({ pieces, moves }, scene) {
    const bytes = Buffer.from(await scene.wire.held(() => play(moves, scene)))
    for (let at = 0; at < bytes.length; at += pieces) {
      scene.wire.write(bytes.subarray(at, at + pieces))
      await setTimeout(1)
    }
  },
  async raw({ raw, bytes }, scene) {
    for (const block of blocksOf(scene.filled(raw), bytes)) scene.wire.write(block)
  },
  async stderr({ stderr, bytes }, scene) {
    for (const block of blocksOf(scene.filled(stderr), bytes)) scene.world.complain(block)
  },
  async die({ die }, scene) {
    scene.log({ event: `dies: ${die}` })
    if (typeof die === 'number') scene.world.exit(die)
    else scene.world.kill(die)
    await aborted(scene.world.over)
  },
  async grandchild({ grandchild: { holdsPipe, ownSession, ignoresTerm } }, scene) {
    const program = `${ignoresTerm ? "process.on('SIGTERM', () => {});" : ''} setInterval(() => {}, 1000)`
    const stdio = holdsPipe ? ['ignore', 'inherit', 'inherit'] : 'ignore'
    const child = spawn(process.execPath, ['-e', program], { stdio, detached: ownSession === true })
    child.unref()
    scene.log({ grandchild: child.pid })
  },
  async deafen() {
    closeSync(0)
  },
  async forget(_, scene) {
    scene.store.delete(scene.sessionId)
  },
}

async function ask({ method, params, goesOn, onAnswer = {} }, scene) {
  const answered = scene.wire.request(method, scene.filled({ sessionId: scene.sessionId, ...params }))
  const playAnswer = async () => {
    const { result, error } = await Promise.race([answered, aborted(scene.signal)])
    const outcome = result?.outcome?.optionId ?? result?.outcome?.outcome ?? result?.action ?? 'result'
    const key = error === undefined ? outcome : 'error'
    await play(onAnswer[key] ?? onAnswer['*'] ?? [], scene.with({ outcome: key }))
  }
  if (goesOn) playAnswer().catch(() => undefined)
  else await playAnswer()
}

/** Rejects when it is; never resolves. */
function aborted(signal) {
  return new Promise((_, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

/** Files that are made once, so that two processes never count the same time. */
function timesBefore(home, name) {
  mkdirSync(join(home, 'times'), { recursive: true })
  for (let times = 0; ; times += 1) {
    try {
      writeFileSync(join(home, 'times', `${name}-${times}`), '', { flag: 'wx' })
      return times
    } catch {
      // That time has been.
    }
  }
}

const BLOCK = 1024 * 1024

function* blocksOf(text, bytes = Buffer.byteLength(text)) {
  const block = Buffer.from(bytes > text.length ? text.repeat(Math.ceil(Math.min(BLOCK, bytes) / text.length)) : text)
  for (let left = bytes; left > 0; left -= block.length) yield block.subarray(0, Math.min(left, block.length))
}
