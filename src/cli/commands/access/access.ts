/** `parley web`, `pair`, `devices` and `share`: how other devices, and the browser on this one, reach the server. */
import { ROLES } from '../../../credentials/roles.ts'
import type { CommandRow, OptionRow } from '../../runtime/command.ts'
import { json, jsonObject } from '../../runtime/options.ts'

const role: OptionRow = { flags: '--role <role>', summary: `what the device may do: ${ROLES.join(', ')}` }
const name: OptionRow = { flags: '--name <name>', summary: 'how it is listed; default: what it calls itself' }
const url: OptionRow = {
  flags: '--url <url>',
  summary: 'the address under which the device reaches the server, if Parley cannot know it',
}

export const access: readonly CommandRow[] = [
  {
    usage: 'web',
    isRemote: true,
    summary: "open the server's page in the browser; start the server and open a port if need be",
    options: [
      { flags: '--no-open', summary: 'only print the address and a one-time link' },
      { flags: '--close', summary: 'close the ports of the running server again' },
      jsonObject,
    ],
    examples: ['parley web', 'parley web --no-open', 'parley web --close'],
    load: () => import('./web.ts'),
  },
  {
    usage: 'pair',
    isRemote: true,
    summary: 'pair a device: print a link and a QR code that can be used once, within ten minutes',
    options: [{ ...role, summary: `${role.summary}; default: approve` }, name, url, jsonObject],
    examples: ['parley pair', "parley pair --role read --name 'The big screen'"],
    load: () => import('./pair.ts'),
  },
  {
    usage: 'devices',
    isRemote: true,
    summary: 'manage paired devices; without a command, list them',
    options: [json],
    examples: ['parley devices', 'parley devices --json'],
    load: () => import('./devices-ls.ts'),
    commands: [
      {
        usage: 'ls',
        isRemote: true,
        summary: 'list the paired devices, with role and last use',
        options: [json],
        examples: ['parley devices ls', 'parley devices ls --json'],
        load: () => import('./devices-ls.ts'),
      },
      {
        usage: 'rm <name>',
        isRemote: true,
        summary: 'remove a device, by its name or id; its connections end within a second',
        options: [jsonObject],
        examples: ["parley devices rm 'Browser on iPhone'"],
        load: () => import('./devices-rm.ts'),
      },
    ],
  },
  {
    usage: 'login <url>',
    isRemote: true,
    summary: 'log in to a remote server, with a pairing link, or with a token on standard input',
    options: [
      {
        flags: '--name <name>',
        summary: 'its name for --server; default: the first part of its host name, or its address',
      },
      {
        flags: '--ca <file>',
        summary: "a certificate to trust, as PEM, if no public authority has signed the server's",
      },
      {
        flags: '--header <header>',
        summary: 'a header that a proxy in front of it requires, as NAME: VALUE; repeatable',
        many: true,
      },
      jsonObject,
    ],
    examples: ["parley login 'https://studio.example/#pair=CODE'", 'parley login https://studio.example --name studio'],
    load: () => import('./login.ts'),
  },
  {
    usage: 'share [id]',
    isRemote: true,
    summary: 'let others read one session, live, by a link that expires; without an id, list the links',
    options: [
      { flags: '--for <time>', summary: 'how long, as in 30m, 24h or 7d; default: 24h, at most 30d' },
      { flags: '--no-tools', summary: 'leave out the arguments and results of tools' },
      url,
      jsonObject,
    ],
    examples: ['parley share 1f3a', 'parley share 1f3a --for 7d --no-tools'],
    load: () => import('./share.ts'),
    commands: [
      {
        usage: 'ls',
        isRemote: true,
        summary: 'list the share links, and when each ends',
        options: [json],
        examples: ['parley share ls', 'parley share ls --json'],
        load: () => import('./share-ls.ts'),
      },
      {
        usage: 'rm <link>',
        isRemote: true,
        summary: "revoke a link by its id, or all links of a session by the session's id",
        options: [json],
        examples: ['parley share rm Ab3x'],
        load: () => import('./share-rm.ts'),
      },
    ],
  },
]
