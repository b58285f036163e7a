/** `parley service` and its commands: the server as a service that starts with the user's login. */
import type { CommandRow } from '../../runtime/command.ts'
import { jsonObject } from '../../runtime/options.ts'

export const service: CommandRow = {
  usage: 'service',
  instead: 'It is about the services of one machine: run it on that one.',
  summary: 'run the server as a service of systemd or launchd; without a command, say how it is',
  options: [jsonObject],
  examples: ['parley service', 'parley service install'],
  load: () => import('./manage.ts'),
  commands: [
    {
      usage: 'install',
      summary: 'write the service for this user and start it; again after an update, it takes over',
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
