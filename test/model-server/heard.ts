/** One request to a scripted model, and all that was heard of its answer. */
import { systemClock } from '../../src/adapters/clock.ts'
import { openModels } from '../../src/adapters/model/providers/models.ts'
import type { ProviderKind } from '../../src/ports/values/provider.ts'
import type { ModelPart } from '../../src/ports/model.ts'
import type { Saying } from './script.ts'
import { startModelServer } from './server.ts'

export async function heard(kind: ProviderKind, say: readonly Saying[]): Promise<readonly ModelPart[]> {
  const server = await startModelServer([say])
  const url = `${server.url}${kind === 'google' ? '/v1beta' : '/v1'}`
  const provider = { name: 'p', title: 'P', kind, url, key: 'k', keyNames: [], headers: {}, models: [] } as const
  const models = openModels({ providers: [{ ...provider, isLocal: true, isConfigured: true }], clock: systemClock })
  try {
    const model = await models.open('p:scripted')
    const { signal } = new AbortController()
    const parts: ModelPart[] = []
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const
    for await (const part of model.stream({ system: '', messages, tools: [], session: 's', signal })) parts.push(part)
    return parts
  } finally {
    await models.close()
    await server.close()
  }
}
