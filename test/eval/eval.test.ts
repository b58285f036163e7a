/** The tasks of the evaluation can be done, and their checkers tell when they were not. */
import { expect, test } from 'vitest'
import { runTask } from './run-task.ts'
import { tasks } from './tasks.ts'

test('there are twenty, each of another name', () => {
  expect(new Set(tasks.map(({ name }) => name)).size).toBe(20)
})

test('what a model that does it right says does each of them', async () => {
  const outcomes: unknown[] = []
  for (const task of tasks) outcomes.push(await runTask(task, undefined))
  expect(outcomes).toEqual(tasks.map(({ name }) => expect.objectContaining({ task: name, wrong: [] }) as unknown))
}, 300_000)

test.each(['make a file', 'find a constant', 'mend a failing test'])(
  'a model that only talks has not done: %s',
  async (name) => {
    const task = tasks.find((one) => one.name === name)
    if (task === undefined) throw new Error(`there is no task ${name}`)
    const { wrong } = await runTask({ ...task, solution: [[{ text: 'All done!' }]] }, undefined)
    expect(wrong).not.toEqual([])
  },
)
