import { startModel } from './model-peer.ts'
import { Peer, binary, settings } from './peer.ts'
import { mkdtempSync } from 'node:fs'
import { NODE_ENVIRONMENT, NODE_FLAGS } from '../src/server/launch/launch.ts'
import { treeProcessorMs, processorMs } from './proc.ts'
import { readdirSync, readFileSync } from 'node:fs'
const dir = mkdtempSync('/tmp/prof-')
const n = Number(process.argv[2] ?? 1), tokens = Number(process.argv[3] ?? 500)
const model = await startModel(dir, [{ text: 'at {at} some words ', times: tokens, everyMs: 20 }])
const env = { ...NODE_ENVIRONMENT, ...settings(dir), ...model.environment }
const prof = process.argv[4] === 'prof' ? ['--cpu-prof', '--cpu-prof-interval', '200', `--cpu-prof-dir=${dir}/prof`] : []
const server = new Peer([...NODE_FLAGS, ...prof, binary, 'serve'], env, 'ignore')
await new Promise((r) => setTimeout(r, 3000))
const client = new Peer([binary, 'acp'], settings(dir))
await client.initialize()
const ids: string[] = []
for (let i = 0; i < n; i++) ids.push(await client.newSession(dir))
const threads = () => Object.fromEntries(readdirSync(`/proc/${server.child.pid}/task`).map((t) => {
  const stat = readFileSync(`/proc/${server.child.pid}/task/${t}/stat`, 'utf8'); const f = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const sched = readFileSync(`/proc/${server.child.pid}/task/${t}/schedstat`, 'utf8').split(' ')
  return [t + ' ' + readFileSync(`/proc/${server.child.pid}/task/${t}/comm`, 'utf8').trim(), Number(sched[0]) / 1e6] }))
await client.promptAll(ids)  // warm
const b = threads(); const rb = processorMs(client.child.pid); const cb = treeProcessorMs(server.child.pid)
if (process.argv[5]) { const s = (await import('node:child_process')).spawn('strace', ['-f','-o','/tmp/strace.out','-p',String(server.child.pid)]); await new Promise((r)=>setTimeout(r,1500)); }
const lags = await client.promptAll(ids)
const a = threads()
console.log('relay', (processorMs(client.child.pid) - rb) / tokens / n, 'server tree', (treeProcessorMs(server.child.pid) - cb) / tokens / n, lags.length)
for (const [k, v] of Object.entries(a)) { const d = (v - (b[k] ?? 0)) / tokens / n; if (d > 0.005) console.log(k, d.toFixed(3)) }
console.log(dir)
client.child.kill('SIGKILL'); server.child.kill('SIGTERM'); await model.close()
setTimeout(() => process.exit(), 4000)
