/** `npm run eval -- [--model PROVIDER:NAME] [--task WORDS]`: how well a model works here, in twenty small tasks. */
import { parseArgs } from 'node:util'
import { type Outcome, runTasks } from './run-task.ts'
import { tasks } from './tasks.ts'

const { values } = parseArgs({ options: { model: { type: 'string' }, task: { type: 'string' } } })
const chosen = tasks.filter(({ name }) => values.task === undefined || name.includes(values.task))

const outcomes: Outcome[] = []
for await (const outcome of runTasks(chosen, values.model)) {
  outcomes.push(outcome)
  const { task, wrong, calls, seconds } = outcome
  const how = `${wrong.length === 0 ? 'done  ' : 'FAILED'}  ${calls} calls  ${seconds} s`
  process.stdout.write(`${String(outcomes.length).padStart(2)}/${chosen.length}  ${task.padEnd(40)} ${how}\n`)
  for (const sentence of wrong) process.stdout.write(`       ${sentence}\n`)
}

const done = outcomes.filter(({ wrong }) => wrong.length === 0)
process.stdout.write(`\n${values.model ?? 'the scripted model'}: ${done.length} of ${outcomes.length} tasks done\n`)
process.exitCode = done.length === outcomes.length ? 0 : 1
