/** Secrets in settings and in the environment, right and wrong: what Parley says of them never has them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { Cli, endServers, parley } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'
import { commandLines, filesBelow, leaksIn, newSentinels, secret } from './sentinels.ts'

endServers()

let stopEcho: () => void = () => undefined
afterEach(() => stopEcho())

/** A server of models and tools that refuses, and quotes what it was sent. */
async function echo(): Promise<string> {
  const server = createServer((request, response) => {
    const said = `${request.url} ${JSON.stringify(request.headers)}`
    response.writeHead(request.url?.startsWith('/v1') === true ? 401 : 500, { 'content-type': 'text/plain' })
    response.end(said)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  stopEcho = () => void server.close()
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

function settingsOf(host: string): string {
  return `
[mcp.web]
url = "http://${secret('user')}:${secret('password')}@${host}/mcp?key=${secret('query')}"
[mcp.heads]
url = "http://${host}/mcp"
headers = { "X-Key" = "${secret('header')}", "X-Filled" = "Bearer \${FILLED}" }
[mcp.heads.login]
client_id = "me"
client_secret = "${secret('clientsecret')}"
[mcp.tells]
command = "/bin/sh"
args = ["-c", "echo $TOKEN $FILLED >&2; exit 3"]
env = { TOKEN = "${secret('env')}", FILLED = "\${FILLED}" }
[providers.mine]
url = "http://${host}/v1"
key_env = "MINE_KEY"
headers = { "X-Provider" = "${secret('providerheader')}", "X-Filled" = "\${FILLED}" }
models = ["m1"]
`
}

function environment() {
  const token = secret('token')
  return {
    FILLED: secret('filled'),
    MINE_KEY: secret('providerkey'),
    OPENAI_API_KEY: secret('openai'),
    PARLEY_DOCS_KEY: secret('docskey'),
    PARLEY_SERVER_TOKEN: token,
    PARLEY_CLIENT_TOKEN: token,
    PARLEY_DISCOVER_LOCAL_MODELS: 'false',
    HTTPS_PROXY: `http://u:${secret('proxy')}@127.0.0.1:1`,
  }
}

/** Tables that cannot be, each with a secret at the very place that is wrong. */
function wrongSettings(): readonly string[] {
  return [
    `[mcp.a]\nenv = { T = "${secret('unterminated')}\n`,
    `[mcp.a]\ncommand = "x"\nenv = ["${secret('envlist')}"]\n`,
    `[mcp.a]\nurl = "http://x"\nheaders = { X = ["${secret('headerlist')}"] }\n`,
    `[mcp.a]\nurl = "ht!tp://${secret('wrongurl')}"\n`,
    `[mcp.a]\ncommand = "x"\ntoken = "${secret('unknown')}"\n`,
    `[mcp.a]\ncommand = "x"\nenv = { T = "${secret('once')}", T = "${secret('twice')}" }\n`,
    `[mcp.a.login]\nclient_secret = ["${secret('secretlist')}"]\n`,
    `[providers.p]\nurl = "http://x/v1"\nkey = "${secret('inline')}"\n`,
    `[providers.p]\nurl = "http://x/v1?key=${secret('providerquery')}"\n`,
    `docs_key = "${secret('docsinfile')}"\n`,
    `server_token = "${secret('tokeninfile')}"\n`,
  ]
}

const COMMANDS = [
  'run hello',
  'run --agent model:mine:m1 hello',
  'mcp ls --json',
  'mcp test web',
  'mcp test heads',
  'mcp test tells',
  'models --json',
  'ls --json',
  'doctor --json',
  'status --json',
  'logs -n 10000',
]

/** Everything that a command says, with all command lines of the machine as they were meanwhile. */
async function heardOf(words: string, run: ConstructorParameters<typeof Cli>[1]): Promise<string> {
  const command = new Cli(words.split(' '), run)
  command.child.stdin.end()
  const shown: string[] = []
  const look = setInterval(() => shown.push(commandLines()), 100)
  const { stdout, stderr } = await command.finished
  clearInterval(look)
  return [stdout, stderr, ...shown].join('\n')
}

test(
  'secrets of settings and of the environment are in nothing that is said, shown or stored',
  { timeout: 300_000 },
  async () => {
    newSentinels()
    const home = freshDirectory()
    const directory = join(home, 'config', 'parley')
    mkdirSync(directory, { recursive: true })
    const file = join(directory, 'parley.toml')
    const agent = await scriptAgent(home, [{ chunk: 'needle' }, { toolCall: { name: 'web__any', arguments: {} } }])
    const run = { home, agent, env: environment() }
    writeFileSync(file, settingsOf(await echo()))
    const found: string[] = []
    for (const words of COMMANDS) {
      const heard = await heardOf(words, run)
      found.push(...leaksIn(heard).map((place) => `${place} in ${words}`))
    }
    for (const settings of wrongSettings()) {
      writeFileSync(file, settings)
      const { code, stdout, stderr } = await parley(['ls'], run)
      expect([code, stdout]).toEqual([2, ''])
      found.push(...leaksIn(stderr).map((place) => `${place} in ${stderr}`))
    }
    const stored = filesBelow(home).filter(([path]) => path !== file)
    expect(stored.map(([path]) => path)).toContain(join(home, 'journal.db'))
    expect([
      ...found,
      ...stored.flatMap(([path, bytes]) => leaksIn(bytes).map((place) => `${place} in ${path}`)),
    ]).toEqual([])
  },
)
