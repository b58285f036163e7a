/** A scripted model in a process of its own, and how long it takes by itself. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Saying } from '../test/model-server/script.ts'
import { writeScript } from './scene.ts'

const program = fileURLToPath(new URL('../test/model-server/main.ts', import.meta.url))

export interface ModelPeer {
  /** What a server needs to ask it. */
  readonly environment: Readonly<Record<string, string>>
  /** Milliseconds from the request of this turn of a conversation to the end of its answer, which is read and thrown away. */
  floor(turn?: number): Promise<number>
  close(): Promise<void>
}

/** Says the same to every request. */
export async function startModel(directory: string, say: readonly Saying[]): Promise<ModelPeer> {
  const script = writeScript(directory, [[{ when: 'go', always: true, say }]])
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), program, script, '0'])
  child.stdout.setEncoding('utf8')
  const [line] = (await once(child.stdout, 'data')) as [string]
  const url = /http:\S+\/v1$/m.exec(line)?.[0] ?? ''
  return {
    environment: {
      PARLEY_AGENT: 'model:openai:scripted',
      PARLEY_MODEL_TITLES: 'false',
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: url,
    },
    async floor(turn = 1) {
      const body = bodyOf(turn)
      const start = performance.now()
      const response = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body })
      for await (const _piece of response.body ?? []) {
        // Only its end counts.
      }
      return performance.now() - start
    },
    async close() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

const headers = { 'content-type': 'application/json', authorization: 'Bearer none' }

/** As long as what a server sends by then. */
function bodyOf(turn: number): string {
  const before = Array.from({ length: turn - 1 }, () => [say('user', 'go'), say('assistant', 'ok')]).flat()
  return JSON.stringify({ model: 'scripted', stream: true, messages: [...before, say('user', 'go')] })
}

function say(role: string, content: string): Readonly<Record<string, string>> {
  return { role, content }
}
