/** A model whose every word is the test's, and who remembers what it was asked. */
import type {
  AssistantPart,
  Model,
  ModelEnd,
  ModelPart,
  ModelRequest,
  Models,
  ModelToolCall,
} from '../../src/ports/model.ts'

/** One answer: its parts as they come, or what goes wrong. */
export type Answer = (request: ModelRequest) => AsyncIterable<ModelPart>

export const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0 }

export class PuppetModel implements Model {
  readonly name: string
  readonly accepts = { image: true, audio: false, embeddedContext: true }
  contextWindow = 1_000
  readonly efforts = ['low', 'high']
  readonly price = { currency: 'USD', input: 10, output: 100, cacheRead: 1, cacheWrite: 12 }
  /** Played one after the other; when there is none left, it says so. */
  answers: Answer[] = []
  readonly requests: ModelRequest[] = []
  /** What was sent, as JSON: a later request must begin with it. */
  readonly sent: string[] = []

  constructor(name = 'puppet:one') {
    this.name = name
  }

  stream(request: ModelRequest): AsyncIterable<ModelPart> {
    this.requests.push(request)
    this.sent.push(JSON.stringify(request.messages))
    return (this.answers.shift() ?? says('I have nothing left to say.'))(request)
  }
}

export function modelsOf(...models: readonly PuppetModel[]): Models {
  const named = (name: string): PuppetModel => {
    const model = models.find((one) => one.name === name) ?? models[0]
    if (model === undefined) throw new Error('no puppet')
    return model
  }
  return {
    discover: async () => [
      {
        provider: 'puppet',
        title: 'Puppets',
        models: models.map((model) => ({ ...traits(model), title: model.name })),
      },
    ],
    preset: models[0]?.name,
    open: async (name) => named(name),
    about: (name) => named(name),
  }
}

function traits({ name, accepts, contextWindow, efforts, price }: PuppetModel) {
  return { name, accepts, contextWindow, efforts, price }
}

export function says(text: string): Answer {
  return async function* (request) {
    for (const word of text.split(/(?<= )/u)) {
      if (request.signal.aborted) throw new Error('cancelled')
      yield { kind: 'text', text: word }
    }
    yield end([{ kind: 'text', text }])
  }
}

export interface Wanted {
  readonly id: string
  readonly name: string
  readonly args?: unknown
  readonly malformed?: string
}

export function calls(...wanted: readonly Wanted[]): Answer {
  return async function* () {
    for (const { id, name } of wanted) yield { kind: 'calling', id, name }
    yield end(wanted.map(called))
  }
}

/** Says something, then fails. */
export function breaks(text: string, error: unknown): Answer {
  return async function* () {
    if (text !== '') yield { kind: 'text', text }
    throw error
  }
}

/** Says something, then nothing until the turn is cancelled. */
export function hangs(text: string): Answer {
  return async function* ({ signal }) {
    if (text !== '') yield { kind: 'text', text }
    await new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true }),
    )
  }
}

export function end(parts: readonly AssistantPart[], more: Partial<ModelEnd> = {}): ModelEnd {
  const reason = parts.some(({ kind }) => kind === 'call') ? 'calls' : 'stop'
  return { kind: 'end', message: { role: 'assistant', parts }, reason, usage, ...more }
}

function called(wanted: Wanted): ModelToolCall {
  return { kind: 'call', args: {}, ...wanted }
}
