/** `parley service` and its commands: the server as a service that starts with the user's login. */
import type { CommandRow } from '../../runtime/command.ts'
import { jsonObject } from '../../runtime/options.ts'

export const service: CommandRow = {
  usage: 'service',
  instead: 'Services belong to one machine: run it there.',
  summary: 'run the server as a service of systemd or launchd; without a command, show its status',
  options: [jsonObject],
  examples: ['parley service', 'parley service install'],
  load: () => import('./manage.ts'),
  commands: [
    {
      usage: 'install',
      summary: 'install the service for this user and start it; run it again after an update',
      options: [{ flags: '--print', summary: 'print the file and write nothing' }, jsonObject],
      examples: ['parley service install', 'parley service install --print'],
      load: () => import('./manage.ts'),
    },
    {
      usage: 'uninstall',
      summary: 'stop the service and remove it; sessions stay',
      options: [jsonObject],
      examples: ['parley service uninstall'],
      load: () => import('./manage.ts'),
    },
    {
      usage: 'status',
      summary: 'say whether the service is installed and runs',
      options: [jsonObject],
      examples: ['parley service status', 'parley service status --json'],
      load: () => import('./manage.ts'),
    },
  ],
}
