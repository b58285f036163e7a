/** `parley web`, `pair` and `devices`: how other devices, and the browser on this one, reach the server. */
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
    summary: 'pair a device: print a link and a QR code that can be used once, within ten minutes',
    options: [{ ...role, summary: `${role.summary}; default: approve` }, name, url, jsonObject],
    examples: ['parley pair', "parley pair --role read --name 'The big screen'"],
    load: () => import('./pair.ts'),
  },
  {
    usage: 'devices',
    summary: 'manage paired devices; without a command, list them',
    options: [json],
    examples: ['parley devices', 'parley devices --json'],
    load: () => import('./devices-ls.ts'),
    commands: [
      {
        usage: 'ls',
        summary: 'list the paired devices, with role and last use',
        options: [json],
        examples: ['parley devices ls', 'parley devices ls --json'],
        load: () => import('./devices-ls.ts'),
      },
      {
        usage: 'rm <name>',
        summary: 'remove a device, by its name or id; its connections end within a second',
        options: [jsonObject],
        examples: ["parley devices rm 'Browser on iPhone'"],
        load: () => import('./devices-rm.ts'),
      },
    ],
  },
]
