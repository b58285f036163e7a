/** The tasks of the evaluation can be done, and their checkers tell when they were not. */
import { expect, test } from 'vitest'
import { type Outcome, runTasks } from './run-task.ts'
import type { Task } from './task.ts'
import { tasks } from './tasks.ts'

async function outcomesOf(played: readonly Task[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for await (const outcome of runTasks(played, undefined)) outcomes.push(outcome)
  return outcomes
}

test('there are twenty, each of another name', () => {
  expect(new Set(tasks.map(({ name }) => name)).size).toBe(20)
})

test('what a model that does it right says does each of them', async () => {
  const outcomes = await outcomesOf(tasks)
  expect(outcomes.filter(({ wrong }) => wrong.length > 0)).toEqual([])
  expect(outcomes).toHaveLength(20)
}, 180_000)

test('a model that only talks has done none that asks for work', async () => {
  const work = ['make a file', 'find a constant', 'mend a failing test', 'delete one file of two', 'plan, then work']
  const talked = tasks.filter(({ name }) => work.includes(name)).map((task) => talking(task))
  const outcomes = await outcomesOf(talked)
  expect(outcomes.filter(({ wrong }) => wrong.length > 0)).toHaveLength(work.length)
}, 180_000)

function talking(task: Task): Task {
  return { ...task, solution: [[{ text: 'All done!' }]] }
}
