/** Starts a program again where no address but loopback exists. Linux only. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'

const INSIDE = 'REAL_AGENTS_INSIDE'

/** Where `parley agents add` has put the agents, below `state`, and where what happens is kept. */
export const DIRECTORY = process.env['REAL_AGENTS_DIRECTORY'] ?? join(tmpdir(), 'parley-real-agents')

/** True inside; outside, it runs `program` inside with the same arguments and gives its exit code to this process. */
export async function isInside(program: string): Promise<boolean> {
  if (process.env[INSIDE] === undefined) {
    process.exitCode = await again(program)
    return false
  }
  const outside = Object.keys(networkInterfaces()).filter((name) => name !== 'lo')
  if (outside.length > 0) throw new Error(`there is a network: ${outside.join(', ')}`)
  return true
}

async function again(program: string): Promise<number> {
  const inner = 'ip link set lo up && exec "$@"'
  const command = [process.execPath, ...process.execArgv, program, ...process.argv.slice(2)]
  const child = spawn('unshare', ['-rn', 'sh', '-c', inner, 'sh', ...command], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: '1' },
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}
