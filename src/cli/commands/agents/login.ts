/** `parley agents login NAME [METHOD]`: the user logs in to an agent, in this terminal or in the agent's own way. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type LoginToTest, authenticate, loginOf, testAgent } from '../../../server/agents/test-agent.ts'
import { type AgentTools, openAgentTools } from '../../../server/compose/agent-catalogue.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { type Stops, watchStops } from '../../runtime/shutdown-signals.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

/** Longer than any address of a login; browsers take more. */
const MAX_URL_CHARS = 8_192

/** With `--json`: one line with the way, one when it is done. */
export async function run({ args: [name = '', method], options }: CommandInput): Promise<number> {
  const config = await configFor()
  const tools = openAgentTools(config)
  const stops = watchStops()
  const isJson = options['json'] === true
  try {
    const where = { cwd: process.cwd(), signal: stops.signal }
    const login = await loginOf(name, tools, { ...where, methodId: method })
    if (isJson) printJson({ method: login.method.id, name: login.method.name, terminal: login.terminal !== undefined })
    const code = await logIn(login, { tools, stops, isJson })
    if (code !== OK) return code
    const { offers } = await testAgent(name, tools, where)
    if (isJson) printJson({ loggedIn: !offers.needsLogin })
    else if (offers.needsLogin) complain(`${oneLine(name, 60)} still needs a login`)
    else process.stdout.write(`Logged in to ${oneLine(name, 60)}. The next prompt of each session uses it.\n`)
    return offers.needsLogin ? FAILED : OK
  } catch (error) {
    if (stops.signal.aborted) return stops.signal.reason as number
    throw error
  } finally {
    await tools.close()
    stops.release()
  }
}

interface LoggingIn {
  readonly tools: AgentTools
  readonly stops: Stops
  readonly isJson: boolean
}

async function logIn(login: LoginToTest, { tools, stops, isJson }: LoggingIn): Promise<number> {
  const { method, terminal } = login
  if (terminal !== undefined) return inTerminal(terminal, stops)
  if (method.type === 'env_var') {
    complain(
      oneLine(`set ${variablesOf(method.raw)} in the environment of Parley's server, then type parley stop`, 500),
    )
    return FAILED
  }
  process.stderr.write(`${oneLine(method.description ?? method.name, 300)}\nWaiting for you to finish. Ctrl-C stops.\n`)
  await authenticate(login, tools, {
    signal: stops.signal,
    showPage: ({ url, message }) => {
      if (url.length > MAX_URL_CHARS) {
        complain(
          `the page that the agent asks to open has an address of ${url.length} characters, more than ${MAX_URL_CHARS}`,
        )
        return false
      }
      if (isJson) printJson({ open: url, message })
      // An address without its end opens another page, or none.
      else process.stderr.write(`${oneLine(message, 500)}\nOpen ${oneLine(url)}\n`)
      return true
    },
  })
  return OK
}

/** The terminal belongs to the agent's program until it ends, Ctrl-C too. */
async function inTerminal({ program, args, env }: NonNullable<LoginToTest['terminal']>, stops: Stops): Promise<number> {
  if (!process.stdin.isTTY) {
    complain(oneLine(`this login needs a terminal; it runs ${[program, ...args].join(' ')}`, 500))
    return FAILED
  }
  stops.release()
  const ignore = (): void => undefined
  process.on('SIGINT', ignore)
  try {
    const child = spawn(program, [...args], { stdio: 'inherit', env })
    const [code] = (await once(child, 'exit')) as [number | null]
    return code === 0 ? OK : FAILED
  } finally {
    process.off('SIGINT', ignore)
  }
}

/** As drafts of ACP and several agents name them. */
function variablesOf(raw: Readonly<Record<string, unknown>>): string {
  const { vars, varName } = raw as { readonly vars?: readonly { readonly name?: string }[]; readonly varName?: string }
  const names = (vars ?? []).map(({ name }) => name).concat(varName)
  return names.filter((name) => name !== undefined).join(' or ') || 'its variable'
}
