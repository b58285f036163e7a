/** The promises of a model, in all three formats. */
import { describe } from 'vitest'
import { modelContract, type ModelStart } from '../../../test/contracts/model.ts'
import type { Script } from '../../../test/model-server/script.ts'
import { startModelServer } from '../../../test/model-server/server.ts'
import { systemClock } from '../clock.ts'
import { openModels } from './providers/models.ts'
import type { Provider, ProviderKind } from '../../ports/values/provider.ts'

const key = 'sentinel-key-of-the-contract'

const subjects: readonly (readonly [ProviderKind, string, string])[] = [
  ['openai', '/v1', 'gpt-oss'],
  ['anthropic', '/v1', 'claude-sonnet-4-5'],
  ['google', '/v1beta', 'gemini-2.5-pro'],
]

describe.concurrent.each(subjects)('a model over %s', (kind, path, name) => {
  modelContract(subjectOf(kind, path, name))
})

function subjectOf(kind: ProviderKind, path: string, name: string): ModelStart {
  const models = (origin: string, idleSeconds?: number) => {
    const url = `${origin}${path}`
    const common = { name: 'p', title: 'Provider', kind, url, key, keyNames: ['P_KEY'], headers: {}, models: [] }
    const waits = idleSeconds === undefined ? {} : { idleSeconds }
    const provider: Provider = { ...common, isLocal: true, isConfigured: true, ...waits }
    return openModels({ providers: [provider], clock: systemClock })
  }
  return {
    key,
    async start(script: Script, idleSeconds?: number) {
      const server = await startModelServer(script, { key })
      const opened = models(server.url, idleSeconds)
      const model = await opened.open(`p:${name}`)
      return {
        model,
        server,
        async close() {
          await opened.close()
          await server.close()
        },
      }
    },
    async nowhere() {
      const gone = await startModelServer([])
      await gone.close()
      return await models(gone.url).open(`p:${name}`)
    },
  }
}
