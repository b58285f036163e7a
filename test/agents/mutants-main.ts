/** `npm run kill -- agents [--only TEXT] [--jobs N]`: whether the cases of external agents miss what is taken out of the mapping. */
import { parseArgs } from 'node:util'
import { reportMutants } from '../mutants/series.ts'
import { agentMutants } from './mutants.ts'

const { values } = parseArgs({ options: { only: { type: 'string' }, jobs: { type: 'string' } } })
process.exitCode = await reportMutants(agentMutants, {
  jobs: Number(values.jobs ?? 1),
  only: values.only,
  fromSource: true,
})
