/** `npm run eval -- [--model PROVIDER:NAME] [--task WORDS]`: how well a model works here, in twenty small tasks. */
import { parseArgs } from 'node:util'
import { type Outcome, runTask } from './run-task.ts'
import { tasks } from './tasks.ts'

const { values } = parseArgs({ options: { model: { type: 'string' }, task: { type: 'string' } } })
const chosen = tasks.filter(({ name }) => values.task === undefined || name.includes(values.task))

const outcomes: Outcome[] = []
for (const [index, task] of chosen.entries()) {
  process.stdout.write(`${String(index + 1).padStart(2)}/${chosen.length}  ${task.name.padEnd(40)} `)
  const outcome = await runTask(task, values.model)
  outcomes.push(outcome)
  const { wrong, calls, seconds } = outcome
  process.stdout.write(`${wrong.length === 0 ? 'done' : 'FAILED'}  ${calls} calls  ${seconds} s\n`)
  for (const sentence of wrong) process.stdout.write(`       ${sentence}\n`)
}

const failed = outcomes.filter(({ wrong }) => wrong.length > 0)
process.stdout.write(
  `\n${values.model ?? 'the scripted model'}: ${outcomes.length - failed.length} of ${outcomes.length} tasks done\n`,
)
process.exitCode = failed.length === 0 ? 0 : 1
