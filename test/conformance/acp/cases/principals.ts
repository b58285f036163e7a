/** Who has shown who they are sees their sessions; whoever has not sees nothing, and not even whether there is something. */
import { type Case, first, one, unless } from '../case.ts'
import type { LineConnection } from '../line-connection.ts'
import { accepting } from '../mutant.ts'
import type { Stage } from '../stage.ts'
import { TOKEN, signIn } from './extensions.ts'
import { isRefused } from './json-rpc.ts'

const AUTH_REQUIRED = -32_000
/** What a stranger is told of a session that is there, and of one that never was. */
async function asStranger(stage: Stage, sessionId: string, on: LineConnection) {
  const params = (id: string) => ({ sessionId: id, cwd: stage.cwd, mcpServers: [] })
  const answers = [await on.request('session/list', {}), await on.request('session/list', { cwd: stage.cwd })]
  for (const method of ['session/load', 'session/resume', 'session/delete', 'session/close'])
    answers.push(await on.request(method, params(sessionId)))
  const [there, never] = [
    await on.request('session/load', params(sessionId)),
    await on.request('session/load', params('none')),
  ]
  return { answers, isTold: JSON.stringify(there.error) !== JSON.stringify(never.error) }
}

type Told = Awaited<ReturnType<typeof asStranger>>

const isToldNothing = ({ answers, isTold }: Told): string | undefined =>
  first(...answers.map(isRefused(AUTH_REQUIRED)), unless(!isTold, 'it is told whether the session exists'))

const mutant = accepting('session/list', { sessions: [] })

export const principalCases: readonly Case[] = [
  one('A-LS-7', 'an unauthenticated client sees no session of an authenticated one, nor whether it exists', {
    tags: ['company', 'ours'],
    env: TOKEN,
    play: async (stage) => {
      await signIn(stage, 'open sesame')
      const sessionId = await stage.session()
      return asStranger(stage, sessionId, await stage.another())
    },
    check: isToldNothing,
    mutant,
  }),
  one('A-LS-7', 'a client that reconnects sees no session either, until it authenticates again', {
    tags: ['ours'],
    env: TOKEN,
    play: async (stage) => {
      await signIn(stage, 'open sesame')
      const sessionId = await stage.talked()
      await stage.again()
      await signIn(stage, 'open barley')
      const told = await asStranger(stage, sessionId, stage.a)
      await signIn(stage, 'open sesame')
      const params = { sessionId, cwd: stage.cwd, mcpServers: [] }
      return { ...told, after: await stage.a.request('session/load', params) }
    },
    check: (told) => first(isToldNothing(told), unless(told.after.error === undefined, 'its own session is gone')),
    mutant,
  }),
]
