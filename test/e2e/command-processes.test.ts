/**
 * Most tests run a command in their own process, where one that holds something open would not be noticed. Here each that ends
 * by itself does so as a process, and prints the same.
 */
import { expect, test } from 'vitest'
import { endServers, parley, parleyProcess, sessionIn, shareServer } from './cli.ts'

endServers()
const stage = shareServer()

test.concurrent.each([
  'agents ls',
  'completion bash',
  'devices ls',
  'docs key ls',
  'export ID',
  'logs',
  'ls --cwd CWD',
  'ls --cwd CWD --json',
  'mcp ls',
  'models',
  'new --json',
  'rename ID again',
  'rules ls',
  'run hello --session ID',
  'search zebra',
  'share ls',
  'show ID',
  'status',
  'token ls',
  'fork zzz',
  'no-such-command',
])('parley %s ends, with the same words and code as in the process of the tests', async (words) => {
  const place = await stage({ chunk: 'Hi.' })
  const id = await sessionIn(place)
  const args = words.replace('CWD', place.cwd).replace('ID', id).split(' ')
  const [here, there] = [await parley(args, place), await parleyProcess(args, place)]
  // How long the server is up is said in seconds, and then in minutes.
  const known = (text: string) => text.replaceAll(/[0-9a-f-]{36}|\d+(?: s$| min$)?/gmu, '#')
  expect({ ...there, stdout: known(there.stdout) }).toEqual({ ...here, stdout: known(here.stdout) })
})
