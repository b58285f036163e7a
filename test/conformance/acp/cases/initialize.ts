/** The first exchange: versions, capabilities, and who is who. */
import type { Fields, Message } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { type Mutant, intruding, onResult, refusing, update } from '../mutant.ts'
import { fieldsOf } from '../record.ts'
import type { Stage } from '../stage.ts'
import { isRefused } from './json-rpc.ts'

const asked =
  (version: number, more: Fields = {}) =>
  (stage: Stage): Promise<Message> =>
    stage.a.request('initialize', {
      ...stage.introduction({ clientCapabilities: {} }),
      protocolVersion: version,
      ...more,
    })

const answersVersionOne = ({ result }: Message): string | undefined =>
  unless(result?.['protocolVersion'] === 1, `it answered ${JSON.stringify(result?.['protocolVersion'] ?? 'an error')}`)

const echo = (version: number): Mutant => onResult('initialize', 'protocolVersion', version)

/** Flags and markers that a client may combine. */
const KINDS: readonly Fields[] = [
  { fs: { readTextFile: true, writeTextFile: false } },
  { fs: { readTextFile: false, writeTextFile: true }, terminal: true },
  { elicitation: { form: {} }, session: { notices: {} } },
  { elicitation: {}, session: { configOptions: { boolean: {} }, compaction: {} }, auth: { terminal: true } },
  { session: null, elicitation: null },
]

export const initializeCases: readonly Case[] = [
  one('A-IN-1', 'initialize is answered with a version and capabilities', {
    tags: ['carried', 'raw'],
    play: asked(1),
    check: ({ result }, transcript) =>
      first(
        unless(Number.isInteger(result?.['protocolVersion']), 'no version'),
        unless(typeof result?.['agentCapabilities'] === 'object', 'no capabilities'),
        law('A-CV-5')(undefined, transcript),
      ),
    mutant: { on: { result: 'initialize' }, drop: 'result.agentCapabilities' },
  }),
  one('A-IN-2', 'version 1 is answered with version 1', {
    tags: ['raw'],
    play: asked(1),
    check: answersVersionOne,
    mutant: echo(2),
  }),
  one('A-IN-3', 'a version from the future is answered with a supported one', {
    tags: ['raw'],
    play: asked(65_535, { capabilities: {}, info: { name: 'x', version: '1' } }),
    check: ({ result }) =>
      unless([1, 2].includes(Number(result?.['protocolVersion'])), 'it echoes the version, or refuses it'),
    mutant: echo(65_535),
  }),
  one('A-IN-3', 'version 0 is answered with version 1', {
    tags: ['raw'],
    play: asked(0),
    check: answersVersionOne,
    mutant: echo(0),
  }),
  one('A-IN-4', 'the agent sends its name and version', {
    tags: ['raw'],
    play: asked(1),
    check: ({ result }) => {
      const { name, version } = fieldsOf(result?.['agentInfo'])
      return unless(typeof name === 'string' && typeof version === 'string', 'no agentInfo with name and version')
    },
    mutant: { on: { result: 'initialize' }, drop: 'result.agentInfo' },
  }),
  one('A-IN-5', 'unknown capabilities are ignored', {
    tags: ['raw'],
    play: asked(1, {
      clientCapabilities: { unheardOf: true, fs: { more: {} }, session: { levitation: {} } },
      extra: 1,
    }),
    check: ({ result }) => unless(result !== undefined, 'it was refused'),
    mutant: refusing('initialize'),
  }),
  one('A-IN-5', 'a client without capabilities gets no requests that need one', {
    script: [{ readFile: { path: '/etc/hostname' } }, { terminal: { command: 'true' } }, { chunk: 'Done.' }],
    play: async (stage) => stage.prompt(await stage.session()),
    check: law('A-IN-5'),
    mutant: intruding('fs/read_text_file', { path: '/etc/hostname' }),
  }),
  ...KINDS.map((client, index) =>
    one('A-IN-6', `a session works with a client of another kind (${index + 1})`, {
      client,
      play: async (stage) => {
        await stage.session()
        await stage.a.quiet()
      },
      check: (seen, transcript) => first(law('A-IN-5')(seen, transcript), law('A-CV-5')(seen, transcript)),
      mutant: {
        on: { result: 'session/new' },
        after: { id: 'e', method: 'elicitation/create', params: { sessionId: '$session', mode: 'url', message: 'Go' } },
      },
    }),
  ),
  one('A-IN-7', 'every group of capabilities is declared, also the flags that are false', {
    tags: ['raw'],
    play: asked(1),
    check: ({ result }) => {
      const can = fieldsOf(result?.['agentCapabilities'])
      const missing = ['loadSession', 'promptCapabilities', 'mcpCapabilities', 'sessionCapabilities'].find(
        (key) => !(key in can),
      )
      return missing === undefined ? undefined : `${missing} is not declared`
    },
    mutant: { on: { result: 'initialize' }, drop: 'result.agentCapabilities.mcpCapabilities' },
  }),
  one('A-IN-8', 'a session is created and prompted, and sends the updates of its turn', {
    tags: ['carried'],
    play: async (stage) => {
      const sessionId = await stage.session()
      const { stopReason } = await stage.prompt(sessionId)
      stage.a.notify('session/cancel', { sessionId })
      await stage.told('agent_message_chunk')
      return stopReason
    },
    check: (stopReason) => unless(typeof stopReason === 'string', 'the turn has no stop reason'),
    mutant: { on: { result: 'session/prompt' }, drop: 'result.stopReason' },
  }),
  one('A-IN-9', 'once version 1 is agreed, no message of another version is sent', {
    play: async (stage) => stage.prompt(await stage.session()),
    check: law('A-CV-5'),
    mutant: { on: { result: 'session/prompt' }, before: update({ sessionUpdate: 'state_update', state: 'idle' }) },
  }),
  one('A-IN-10', 'flags are true or false, markers are objects', {
    tags: ['raw'],
    play: asked(1),
    check: ({ result }) => badEncoding(fieldsOf(result?.['agentCapabilities'])),
    mutant: onResult('initialize', 'agentCapabilities.sessionCapabilities.list', true),
  }),
  one('A-IN-11', 'before initialize every other request is refused, and initialize may follow', {
    tags: ['carried', 'ours', 'raw'],
    play: async (stage) => {
      const early = await stage.a.request('session/list', {})
      await stage.initialize()
      return early
    },
    check: isRefused(-32_600),
    mutant: { on: { error: 'session/list' }, set: 'error.code', to: -32_603 },
  }),
  one('A-IN-11', 'a second initialize is answered like the first, and changes no session', {
    tags: ['ours'],
    play: async (stage) => {
      const sessionId = await stage.session()
      await stage.initialize()
      return stage.prompt(sessionId)
    },
    check: ({ stopReason }) => unless(stopReason === 'end_turn', 'the session is gone'),
    mutant: refusing('session/prompt'),
  }),
  one('A-IN-11', 'a version that is no whole number is refused', {
    tags: ['ours', 'raw'],
    play: (stage) => stage.a.request('initialize', { protocolVersion: '1' }),
    check: isRefused(-32_602),
    mutant: { on: { error: 'initialize' }, set: 'error.code', to: -32_603 },
  }),
]

function badEncoding(can: Fields): string | undefined {
  const flags = [
    ['loadSession', can['loadSession']],
    ...Object.entries(fieldsOf(can['promptCapabilities'])),
    ...Object.entries(fieldsOf(can['mcpCapabilities'])),
  ].filter(([key]) => key !== '_meta')
  const markers = [...Object.entries(fieldsOf(can['sessionCapabilities'])), ...Object.entries(fieldsOf(can['auth']))]
  const flag = flags.find(([, value]) => value !== undefined && typeof value !== 'boolean')
  const marker = markers.find(([, value]) => typeof value !== 'object')
  return first(
    flag === undefined ? undefined : `${String(flag[0])} is not true or false`,
    marker === undefined ? undefined : `${marker[0]} is no object`,
  )
}
