/** `parley docs` and its commands: a document server for any MCP client, its collections and its keys. */
import type { CommandRow } from '../../runtime/command.ts'
import { json } from '../../runtime/options.ts'

export const docs: CommandRow = {
  usage: 'docs [dir...]',
  instead: 'A document server reads directories of its own machine: run it there.',
  summary: 'serve documents to any MCP client: full-text search over HTTP or stdio',
  options: [
    { flags: '--stdio', summary: 'serve the program that started this one, over stdin and stdout' },
    { flags: '--port <port>', summary: 'the port to listen on; default: a free port' },
    { flags: '--host <host>', summary: 'the address to listen on; default: 127.0.0.1' },
    { flags: '--key-file <file>', summary: 'file with the key, created if it does not exist (env PARLEY_DOCS_KEY)' },
    { flags: '--tls-cert <file>', summary: 'the certificate and its chain, as PEM' },
    { flags: '--tls-key <file>', summary: 'the private key of the certificate, as PEM' },
    { flags: '--insecure-http', summary: 'listen without TLS on addresses other than loopback too' },
    { flags: '--allow-host <names>', summary: 'further names of this host, separated by commas' },
    { flags: '--allow-query-key', summary: 'accept ?api_key= on addresses other than loopback too' },
  ],
  examples: ['parley docs ~/notes', 'parley docs --stdio ~/notes'],
  load: () => import('./serve.ts'),
  commands: [
    {
      usage: 'add <name> <dir>',
      summary: 'add a collection to every document server of this state directory',
      options: [],
      examples: ['parley docs add manuals ~/manuals'],
      load: () => import('./add.ts'),
    },
    {
      usage: 'rm <name>',
      summary: 'remove a collection; its directory is left as it is',
      options: [],
      examples: ['parley docs rm manuals'],
      load: () => import('./rm.ts'),
    },
    {
      usage: 'ls',
      summary: 'list the added collections',
      options: [json],
      examples: ['parley docs ls'],
      load: () => import('./ls.ts'),
    },
    {
      usage: 'key',
      summary: 'manage named keys',
      options: [],
      examples: ['parley docs key add ci', 'parley docs key ls'],
      commands: [
        {
          usage: 'add <name>',
          summary: 'make a key and print it, once',
          options: [
            {
              flags: '--collections <names>',
              summary: 'the collections that the key opens, separated by commas; default: all',
            },
          ],
          examples: ['parley docs key add ci --collections notes,manuals'],
          load: () => import('./key-add.ts'),
        },
        {
          usage: 'ls',
          summary: 'list the named keys',
          options: [json],
          examples: ['parley docs key ls'],
          load: () => import('./key-ls.ts'),
        },
        {
          usage: 'rm <name>',
          summary: 'remove a key; running servers end its sessions',
          options: [],
          examples: ['parley docs key rm ci'],
          load: () => import('./key-rm.ts'),
        },
      ],
    },
  ],
}
