/** The two founding exchanges, byte for byte where bytes are given, and the meeting of two processes. */
import { isDeepStrictEqual } from 'node:util'
import type { Message } from '../../../e2e/message.ts'
import { type Case, every, first, one, unless } from '../case.ts'
import { onResult, withoutUpdate } from '../mutant.ts'
import { fieldsOf, textOf, updatesOf } from '../record.ts'
import { TALK, isSpoken, opened } from './load.ts'

const EXCHANGE_A =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"my-client","title":"My Client","version":"1.0.0"}}}\n'

const greeting = { ...(JSON.parse(EXCHANGE_A) as Message), id: 0 as const }

const SAID = {
  protocolVersion: 1,
  can: {
    loadSession: true,
    promptCapabilities: { image: false, audio: false, embeddedContext: false },
    mcpCapabilities: { http: true },
    sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
  },
  info: { name: 'parley', title: 'Parley' },
  authMethods: [],
}

export const foundingCases: readonly Case[] = [
  one('A-IN-1', 'founding exchange A: these bytes are answered with all capabilities', {
    tags: ['carried', 'raw'],
    play: ({ a }) => a.rawMessage(greeting, [EXCHANGE_A]),
    check: ({ id, result }) => {
      const can = fieldsOf(result?.['agentCapabilities'])
      const flags = [fieldsOf(can['promptCapabilities']), fieldsOf(can['mcpCapabilities'])]
      return first(
        unless(id === 0 && result?.['protocolVersion'] === 1, 'another id, or another version'),
        unless(!('mcp' in can), 'it says `mcp`'),
        every(flags, (group) => Object.values(group).every((flag) => typeof flag === 'boolean'), 'a flag is no flag'),
        unless(Array.isArray(result?.['authMethods']), 'authMethods is no list'),
      )
    },
    mutant: onResult('initialize', 'agentCapabilities.mcp', { http: true }),
  }),
  one('A-IN-10', 'founding exchange A: all session capabilities are advertised', {
    tags: ['ours', 'raw'],
    play: (stage) => stage.initialize(),
    check: ({ result }) => {
      const can = fieldsOf(result?.['agentCapabilities'])
      const markers = Object.keys(fieldsOf(can['sessionCapabilities']))
      const missing = ['list', 'resume', 'close', 'delete', 'additionalDirectories'].filter(
        (name) => !markers.includes(name),
      )
      return first(
        unless(can['loadSession'] === true, 'no load'),
        unless(missing.length === 0, `no ${missing.join(', ')}`),
      )
    },
    mutant: { on: { result: 'initialize' }, drop: 'result.agentCapabilities.sessionCapabilities.close' },
  }),
  one('A-IN-10', 'founding exchange A: no other fields are sent, besides `_meta`', {
    tags: ['ours', 'raw'],
    play: (stage) => stage.initialize(),
    check: ({ result }) => {
      const { agentCapabilities, agentInfo, ...rest } = result ?? {}
      const { _meta, ...can } = fieldsOf(agentCapabilities)
      const { sse, ...mcpCapabilities } = fieldsOf(can['mcpCapabilities'])
      const { version, ...info } = fieldsOf(agentInfo)
      const said = { ...rest, can: { ...can, mcpCapabilities }, info }
      return first(
        unless(isDeepStrictEqual(said, SAID), `it says ${JSON.stringify(said)}`),
        unless(typeof sse === 'boolean' && typeof version === 'string', 'sse is no flag, or the version no text'),
        unless(Object.keys(fieldsOf(_meta)).join() === 'parley', 'another word stands in `_meta`'),
      )
    },
    mutant: onResult('initialize', 'agentCapabilities.sessionCapabilities.fork', {}),
  }),
  one('A-LD-1', 'founding exchange B: another process loads what one process stored, and continues it', {
    script: TALK,
    play: async (stage) => {
      const sessionId = await stage.session()
      await stage.prompt(sessionId, 'Begin.')
      const live = textOf(updatesOf(stage.transcript))
      await stage.again()
      const { replayed, late } = await opened(stage, 'session/load', { sessionId })
      const { stopReason } = await stage.prompt(sessionId, 'Again.')
      return { live, replayed, late, stopReason }
    },
    check: ({ live, replayed, late, stopReason }) =>
      first(
        unless(textOf(replayed) === live && live !== '', 'the words differ'),
        unless(textOf(replayed, 'user_message_chunk') === 'Begin.', 'the user’s words are missing'),
        unless(!late.some(isSpoken), 'it went on after the answer'),
        unless(stopReason === 'end_turn', 'it did not go on'),
      ),
    mutant: withoutUpdate('user_message_chunk'),
  }),
  one('A-RS-1', 'founding exchange B: resume, the same without the history', {
    script: TALK,
    play: async (stage) => {
      const sessionId = await stage.session()
      await stage.prompt(sessionId, 'Begin.')
      await stage.again()
      const { replayed } = await opened(stage, 'session/resume', {
        sessionId,
        additionalDirectories: [stage.dir('lib')],
      })
      const { stopReason } = await stage.prompt(sessionId, 'Again.')
      return { replayed, stopReason }
    },
    check: ({ replayed, stopReason }) =>
      first(
        unless(!replayed.some(isSpoken), 'it told the history'),
        unless(stopReason === 'end_turn', 'it did not go on'),
      ),
    mutant: { on: { result: 'session/prompt' }, nth: 2, set: 'result.stopReason', to: 'refusal' },
  }),
]
