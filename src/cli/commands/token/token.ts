/** `parley token` and its commands: access tokens for clients that reach the server over the network. */
import { ROLES } from '../../../credentials/roles.ts'
import type { CommandRow } from '../../runtime/command.ts'
import { json, jsonObject } from '../../runtime/options.ts'

export const token: CommandRow = {
  usage: 'token',
  isRemote: true,
  summary: 'manage access tokens; without a command, list them',
  options: [json],
  examples: ['parley token', 'parley token --json'],
  load: () => import('./ls.ts'),
  commands: [
    {
      usage: 'add <name>',
      isRemote: true,
      summary: 'make an access token and print it, once',
      options: [
        { flags: '--role <role>', summary: `what it may do: ${ROLES.join(', ')}` },
        { flags: '--session <id>', summary: 'only this session; repeatable', many: true },
        { flags: '--dir <path>', summary: 'only sessions of this directory and below; repeatable', many: true },
        jsonObject,
      ],
      examples: ['parley token add ci --role prompt --dir ~/app', 'parley token add ci --role read --json'],
      load: () => import('./add.ts'),
    },
    {
      usage: 'ls',
      isRemote: true,
      summary: 'list the access tokens, with role and last use',
      options: [json],
      examples: ['parley token ls', 'parley token ls --json'],
      load: () => import('./ls.ts'),
    },
    {
      usage: 'rm <name>',
      isRemote: true,
      summary: 'remove an access token; its connections end within a second',
      options: [jsonObject],
      examples: ['parley token rm ci'],
      load: () => import('./rm.ts'),
    },
  ],
}
