/** The server dies at each of its own steps in a turn of an external agent. */
import { expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import { Stage, prompted, sent } from './stage.ts'

const plan = {
  capabilities: { loadSession: true },
  prompts: {
    work: [{ chunk: 'half ' }, { permission: { toolCall: { toolCallId: 'c', title: 'Run' } } }, { chunk: 'whole' }],
  },
}

/** The prompt, its words, the question and its answer are four batches at least. */
const deaths = [
  ['turn.started', 1],
  ['turn.ended', 1],
  ...(['session.batch.decided', 'session.batch.stored', 'session.batch.published'] as const).flatMap((point) =>
    [1, 2, 4].map((time) => [point, time] as const),
  ),
] as const

test.concurrent.each(deaths)(
  'a server that dies at %s, time %i, in a turn: one end for each prompt, and none is sent twice [27]',
  async (point, time) => {
    await using stage = new Stage()
    const fake = stage.fake(plan)
    const { session, reader } = await stage.open()
    await prompted(session, reader, 'hello')
    stage.diesAt(point, time)
    // Neither it nor the answer below is heard of again once the server is dead.
    void sent(session, 'work').catch(() => undefined)
    const asked = () => reader.entries.find((entry) => entry.kind === 'permission_requested')
    await until(() => stage.isDead || asked() !== undefined)
    const question = asked()
    if (question?.kind === 'permission_requested')
      void session.dispatch({ kind: 'answer', requestId: question.requestId, optionId: 'yes' }).catch(() => undefined)
    await until(() => stage.isDead)

    const after = await stage.killed(session.id)
    expect(fake.processes).toEqual([])
    expect(after.session.state.phase).toBe('idle')
    expect(await prompted(after.session, after.reader, 'go on')).toMatchObject({ stopReason: 'end_turn' })
    const works = fake.prompts.filter((text) => text === 'work').length
    const ends = after.reader.entries.flatMap((entry) => (entry.kind === 'turn_ended' ? [entry.promptId] : []))
    expect(works).toBeLessThanOrEqual(1)
    expect(new Set(ends).size).toBe(ends.length)
    // A prompt that is in the transcript has an end there.
    const prompts = after.reader.entries.filter((entry) => entry.kind === 'turn_started')
    expect(ends).toHaveLength(prompts.length)
    expect(after.reader.text).toMatch(/^echo: hello(?:half )?(?:whole)?echo: go on$/u)
  },
)
