/**
 * Loaded into Parley before its own code: writes down every line between it and an agent as `{"to": message}` or
 * `{"from": message}`, and before the first one how the agent was started.
 */
const childProcess = require('node:child_process')
const { appendFileSync } = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')

const file = process.env.REAL_AGENTS_FRAMES

/** Whole lines of JSON-RPC; other programs that Parley starts say none. */
function recorder(direction, start) {
  let rest = ''
  return (chunk) => {
    const lines = (rest + Buffer.from(chunk).toString('latin1')).split('\n')
    rest = lines.pop()
    for (const line of lines.filter((one) => one.includes('"jsonrpc"'))) {
      if (line.includes('"method":"initialize"')) appendFileSync(file, `${JSON.stringify({ start })}\n`)
      appendFileSync(file, `{"${direction}":${Buffer.from(line, 'latin1').toString()}}\n`)
    }
  }
}

if (file !== undefined) {
  const { spawn } = childProcess
  childProcess.spawn = (...spawned) => {
    const child = spawn(...spawned)
    const { stdin, stdout } = child
    if (stdin === null || stdout === null) return child
    const [command, args, { cwd, env } = {}] = spawned
    const start = { command, args, cwd, env }
    const [to, from] = [recorder('to', start), recorder('from', start)]
    const { write } = stdin
    stdin.write = (chunk, ...others) => {
      to(chunk)
      return write.call(stdin, chunk, ...others)
    }
    const { push } = stdout
    stdout.push = (chunk, ...others) => {
      if (chunk !== null) from(chunk)
      return push.call(stdout, chunk, ...others)
    }
    return child
  }
  syncBuiltinESMExports()
}
