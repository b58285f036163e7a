/** Plays tasks, each in a fresh directory and a session of its own, with the real binary and a client that allows what it is asked. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Message, allowing } from '../e2e/message.ts'
import { initialize, newSession, promptOf, startParley } from '../e2e/parley.ts'
import type { RawClient } from '../e2e/raw-client.ts'
import type { Asked, Saying } from '../model-server/script.ts'
import { startModelServer } from '../model-server/server.ts'
import type { Called, Done, Task } from './task.ts'

export interface Outcome {
  readonly task: string
  /** What is wrong, in sentences. */
  readonly wrong: readonly string[]
  readonly calls: number
  readonly seconds: number
}

/** Undefined plays the solutions with the scripted model. */
export type ModelName = string | undefined

/** Yields each outcome as it is known. */
export async function* runTasks(tasks: readonly Task[], model: ModelName): AsyncGenerator<Outcome> {
  const home = mkdtempSync(join(tmpdir(), 'parley-eval-home-'))
  const server = model === undefined ? await startModelServer((asked) => solved(tasks, asked)) : undefined
  const env = server === undefined ? {} : { OPENAI_API_KEY: 'scripted', OPENAI_BASE_URL: `${server.url}/v1` }
  const client = startParley({ home, agent: `model:${model ?? 'openai:scripted'}`, env })
  client.listen((message) => allow(client, message))
  try {
    await initialize(client)
    for (const task of tasks) yield await runTask(task, client)
  } finally {
    client.closeStdin()
    await client.exited
    await server?.close()
    rmSync(home, { recursive: true, force: true })
  }
}

async function runTask(task: Task, client: RawClient): Promise<Outcome> {
  const root = mkdtempSync(join(tmpdir(), 'parley-eval-'))
  const directory = join(root, 'work')
  mkdirSync(directory)
  for (const [path, text] of Object.entries(task.files)) put(join(directory, path), text)
  const began = Date.now()
  try {
    const done = await play(task, { client, directory })
    const seconds = Math.round((Date.now() - began) / 100) / 10
    return { task: task.name, wrong: wrongWith(task, done), calls: done.calls.length, seconds }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function wrongWith(task: Task, done: Done): readonly string[] {
  const ended = done.stopReason === 'end_turn' ? [] : [`The turn ended with ${done.stopReason}.`]
  return [...ended, ...task.check(done)]
}

/** The next step of the task that this conversation is about; whoever asks for a title gets one. */
function solved(tasks: readonly Task[], { messages }: Asked): readonly Saying[] {
  const [first] = messages
  const task = tasks.find(({ prompt }) => first?.text.includes(prompt))
  const said = messages.filter(({ role }) => role === 'assistant').length
  return task?.solution[said] ?? [{ text: 'A small task' }]
}

interface Place {
  readonly client: RawClient
  readonly directory: string
}

async function play(task: Task, { client, directory }: Place): Promise<Done> {
  const session = await newSession(client, directory)
  const { result, error } = await client.request('session/prompt', promptOf(session, task.prompt))
  const ending = result?.['stopReason'] as string | undefined
  const heard = client.received.filter(({ params }) => params?.['sessionId'] === session)
  return { directory, ...told(heard), stopReason: ending ?? error?.message ?? 'nothing' }
}

/** A person who says yes to each question, once. */
function allow(client: RawClient, message: Message): void {
  if (message.method !== 'session/request_permission') return
  client.reply(message.id, { outcome: { outcome: 'selected', optionId: allowing(message) } })
}

interface Update {
  readonly sessionUpdate: string
  readonly toolCallId?: string
  readonly name?: string
  readonly title?: string
  readonly status?: string
  readonly content?: { readonly text?: string }
}

function told(received: readonly Message[]): Pick<Done, 'answer' | 'calls'> {
  const updates = received.flatMap(({ params }) => (params?.['update'] as Update | undefined) ?? [])
  const calls = new Map<string, Called>()
  let answer = ''
  for (const update of updates) {
    const { sessionUpdate, toolCallId, content } = update
    if (sessionUpdate === 'agent_message_chunk') answer += content?.text ?? ''
    if (toolCallId !== undefined) calls.set(toolCallId, patched(calls.get(toolCallId), update))
  }
  return { answer, calls: [...calls.values()] }
}

function patched(before: Called | undefined, update: Update): Called {
  const { name = before?.name ?? '', title = before?.title ?? '', status = before?.status ?? '' } = update
  return { name, title, status }
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
