/** `parley mcp` and its commands: the MCP servers of the configuration, and a test of any MCP server. */
import type { CommandRow, OptionRow } from '../../runtime/command.ts'
import { json, jsonObject } from '../../runtime/options.ts'

const url: OptionRow = {
  flags: '--url <url>',
  summary: 'the address of a server over HTTP, instead of -- COMMAND ARGS',
}
const sse: OptionRow = { flags: '--sse', summary: 'the server speaks the older HTTP+SSE transport' }
const header: OptionRow = {
  flags: '--header <header>',
  summary: 'an HTTP header to send: NAME=VALUE; repeatable',
  many: true,
}
const env: OptionRow = {
  flags: '--env <variable>',
  summary: 'an environment variable for the command: NAME=VALUE; repeatable',
  many: true,
}

export const mcp: CommandRow = {
  usage: 'mcp',
  isRemote: true,
  summary: 'manage MCP servers; without a command, list them',
  options: [json],
  examples: ['parley mcp', 'parley mcp test files'],
  load: () => import('./ls.ts'),
  commands: [
    {
      usage: 'ls',
      isRemote: true,
      summary: 'list the configured servers and their state in live sessions',
      options: [json],
      examples: ['parley mcp ls', 'parley mcp ls --json'],
      load: () => import('./ls.ts'),
    },
    {
      usage: 'test <server...>',
      isRemote: true,
      summary: 'connect to a server as a session would, and show what it offers',
      options: [sse, header, jsonObject],
      examples: [
        'parley mcp test files',
        'parley mcp test https://example.com/mcp',
        'parley mcp test -- npx -y @modelcontextprotocol/server-everything',
      ],
      load: () => import('./test.ts'),
    },
    {
      usage: 'add <name> [command...]',
      isRemote: true,
      summary: 'add a server to your parley.toml',
      options: [url, sse, header, env],
      examples: [
        'parley mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
        'parley mcp add search --url https://example.com/mcp',
      ],
      load: () => import('./add.ts'),
    },
    {
      usage: 'rm <name>',
      isRemote: true,
      summary: 'remove a server from your parley.toml, or stop trusting one of .parley.toml',
      options: [],
      examples: ['parley mcp rm files'],
      load: () => import('./rm.ts'),
    },
    {
      usage: 'trust <name>',
      instead: 'Read the file and trust it on that machine, in the directory of the project.',
      summary: 'allow a server of .parley.toml, exactly as it stands there now',
      options: [],
      examples: ['parley mcp trust files'],
      load: () => import('./trust.ts'),
    },
    {
      usage: 'login <server>',
      instead: 'A login needs a browser on that machine: run it there.',
      summary: 'log in to a server, named or by its URL, in your browser',
      options: [json],
      examples: ['parley mcp login wiki', 'parley mcp login https://example.com/mcp'],
      load: () => import('./login.ts'),
    },
    {
      usage: 'logout <server>',
      instead: 'Logins are kept on that machine: run it there.',
      summary: 'forget a login',
      options: [jsonObject],
      examples: ['parley mcp logout wiki'],
      load: () => import('./logout.ts'),
    },
    {
      usage: 'import <file>',
      isRemote: true,
      summary: 'add the servers of another tool, from its JSON file with "mcpServers"',
      options: [],
      examples: ['parley mcp import ~/.config/other/mcp.json'],
      load: () => import('./import.ts'),
    },
  ],
}
