/** `parley cluster` and its commands: sessions in PostgreSQL, which several machines serve together. */
import type { CommandRow, OptionRow } from '../../runtime/command.ts'
import { json, jsonObject } from '../../runtime/options.ts'

export const clusterOption: OptionRow = {
  flags: '--cluster <address>',
  summary: 'postgres://USER@HOST/DATABASE, where sessions are kept (env PARLEY_CLUSTER)',
}

export const cluster: CommandRow = {
  usage: 'cluster',
  instead: 'It works on the databases of a cluster: run it on one of the nodes.',
  summary: 'manage a cluster: sessions in PostgreSQL; without a command, show its nodes',
  options: [clusterOption, json],
  examples: ['parley cluster', 'parley cluster --json'],
  load: () => import('./status.ts'),
  commands: [
    {
      usage: 'init',
      summary: 'make the tables of a cluster; print its id',
      options: [clusterOption, jsonObject],
      examples: ['parley cluster init --cluster postgres://parley@db.example/parley'],
      load: () => import('./init.ts'),
    },
    {
      usage: 'check',
      summary: 'say what an acknowledged entry survives there; fail if entries could be lost',
      options: [clusterOption, json],
      examples: ['parley cluster check', 'parley cluster check --json'],
      load: () => import('./check.ts'),
    },
    {
      usage: 'status',
      summary: 'show the nodes of the cluster and their load',
      options: [clusterOption, json],
      examples: ['parley cluster status', 'parley cluster status --json'],
      load: () => import('./status.ts'),
    },
    {
      usage: 'move <session> <node>',
      summary: 'move a session to another node, once none of its turns runs',
      options: [clusterOption],
      examples: ['parley cluster move 0198c2f7-5a0e-7c3e-9d0b-2f6f4b1c8a11 build-2'],
      load: () => import('./move.ts'),
    },
    {
      usage: 'drain <node>',
      summary: 'move all sessions of a node to the others, each once none of its turns runs',
      options: [clusterOption],
      examples: ['parley cluster drain build-1'],
      load: () => import('./drain.ts'),
    },
    {
      usage: 'import',
      summary: 'copy the sessions of this machine into the cluster',
      options: [
        clusterOption,
        { flags: '--from <dir>', summary: 'the state directory to copy from; default: the one of this machine' },
        jsonObject,
      ],
      examples: ['parley cluster import', 'parley cluster import --from ~/.local/state/parley'],
      load: () => import('./import.ts'),
    },
    {
      usage: 'export <dir>',
      summary: 'copy the sessions of the cluster into a new state directory',
      options: [clusterOption, jsonObject],
      examples: ['parley cluster export ./sessions'],
      load: () => import('./export.ts'),
    },
  ],
}
