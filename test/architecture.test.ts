/** The walls of the house: the rules hold for every file, and each rule is shown to catch what it forbids. */
import { describe, expect, test } from 'vitest'
import { foreignHabits } from './architecture/habits.ts'
import { importsOf } from './architecture/imports.ts'
import { habits, installed, packages, pagePackages, walls } from './architecture/law.ts'
import { bagsOfCallbacks, collaborators, crowdedFolders } from './architecture/sizes.ts'
import { isTest, parse, read, readSources, type Offence, type Parsed } from './architecture/source.ts'
import { barrels, exportsOfEverything, namesOfTheWire, portsThatEmit, speechless } from './architecture/syntax.ts'
import { importedEntries, threadsElsewhere } from './architecture/threads.ts'
import { allows, circles, crossedWalls, hastyImports, roomless } from './architecture/walls.ts'

type Rule = (files: readonly Parsed[]) => readonly Offence[]

/** What this room may import, as the message lists it. */
const mayOf = (room: string) => (walls[room]?.may ?? []).join(', ')
const paths = (files: readonly Parsed[]) => files.map((file) => file.path)
const imports = (files: readonly Parsed[]) => files.flatMap(importsOf)

const rules = {
  'every file stands in a room': (files) => roomless(paths(files)),
  'imports go down only': (files) => crossedWalls(imports(files)),
  'nothing imports in a circle': (files) => circles(imports(files)),
  'a command waits only for what it needs': (files) => hastyImports(imports(files)),
  'environment, command line and time have one door each': (files) => files.flatMap(foreignHabits),
  'a thread is started in one place': (files) => threadsElsewhere(files),
  'nothing imports the entry of a thread': (files) => importedEntries(files, imports(files)),
  'ports emit no JavaScript': (files) => files.flatMap(portsThatEmit),
  'the core knows no wire': (files) => files.flatMap(namesOfTheWire),
  'a folder has at most twelve files': (files) => crowdedFolders(paths(files)),
  'an interface has at most four callbacks': (files) => bagsOfCallbacks(files),
  'a class has at most eight collaborators': (files) => collaborators(files),
} as const satisfies Record<string, Rule>

const everywhere = {
  'nothing exports everything': (files) => files.flatMap(exportsOfEverything),
  'there are no barrels': (files) => barrels(paths(files)),
  'a file opens with a sentence': (files) => files.flatMap(speechless),
} as const satisfies Record<string, Rule>

const root = new URL('..', import.meta.url).pathname
const all = readSources(root, ['src', 'test', 'bench', 'scripts']).map(parse)
const product = all.filter((file) => file.path.startsWith('src/') && !isTest(file.path))

describe('the house', () => {
  test.each(Object.entries<Rule>(rules))('%s', (_name, rule) => expect(rule(product)).toEqual([]))
  test.each(Object.entries<Rule>(everywhere))('%s', (_name, rule) => expect(rule(all)).toEqual([]))
})

describe('the law', () => {
  test('lets no room import itself by way of others', () => {
    const below = (room: string): readonly string[] =>
      Object.keys(walls).filter((other) => allows(walls[room]?.may ?? [], other))
    const reaches = (from: string, to: string): boolean => below(from).some((room) => room === to || reaches(room, to))
    expect(Object.keys(walls).filter((room) => reaches(room, room))).toEqual([])
  })

  test('names only rooms that it knows', () => {
    const named = [...Object.values(walls).flatMap((wall) => wall.may), ...Object.values(packages).flat()]
    expect(named.filter((room) => room !== 'adapters/*' && !(room in walls))).toEqual([])
  })

  test('has a home for every dependency and for nothing else', () => {
    const { dependencies, devDependencies, optionalDependencies }: Record<string, object> = JSON.parse(
      read(root, 'package.json'),
    )
    // What is bundled is not installed with Parley; only native packages are.
    expect(Object.keys({ ...dependencies, ...optionalDependencies }).toSorted()).toEqual(installed.toSorted())
    expect(Object.keys(devDependencies ?? {})).toEqual(
      expect.arrayContaining(Object.keys({ ...packages, ...pagePackages }).filter((name) => !installed.includes(name))),
    )
    expect(Object.keys(packages)).toEqual(expect.arrayContaining([...installed]))
  })

  test('says where each habit is at home', () => {
    expect(Object.keys(habits)).toEqual(['environment', 'commandLine', 'time', 'date'])
  })
})

interface Case {
  readonly rule: Rule
  readonly files: Readonly<Record<string, string>>
  /** What the only offence says. */
  readonly says: string
}

const walled = rules['imports go down only']
const doors = rules['environment, command line and time have one door each']
const one = (path: string, text: string) => ({ [path]: text })

const cases: Readonly<Record<string, Case>> = {
  'a folder without a row': {
    rule: rules['every file stands in a room'],
    files: one('src/helpers/misc.ts', ''),
    says: 'src/helpers/misc.ts:1 stands in no room of the house; give its folder a row in test/architecture/law.ts',
  },
  'a live session behind its handle': {
    rule: walled,
    files: one('src/edge/acp/connection.ts', "import type { Session } from '../../session/session.ts'"),
    says:
      'src/edge/acp/connection.ts:1 imports ../../session/session.ts, but edge may import only ' +
      'src/session/handle.ts of session',
  },
  'a pure decision that knows what runs around it': {
    rule: walled,
    files: one('src/session/domain/evolve.ts', "import { ruleWords } from '../permission/policy.ts'"),
    says:
      'src/session/domain/evolve.ts:1 imports ../permission/policy.ts, ' +
      `but session/domain may only import ${mayOf('session/domain')}`,
  },
  'a core that sees an adapter': {
    rule: walled,
    files: one('src/session/session.ts', "\n\nimport { openSqlite } from '../adapters/journal/sqlite/client.ts'"),
    says: `src/session/session.ts:3 imports ../adapters/journal/sqlite/client.ts, but session may only import ${mayOf('session')}`,
  },
  'a core that sees only a type of an adapter': {
    rule: walled,
    files: one('src/session/session.ts', "import type { Row } from '../adapters/journal/rows.ts'"),
    says: `src/session/session.ts:1 imports ../adapters/journal/rows.ts, but session may only import ${mayOf('session')}`,
  },
  'an export of what may not be imported': {
    rule: walled,
    files: one('src/errors/catalogue.ts', "export { decide } from '../session/decide.ts'"),
    says: 'src/errors/catalogue.ts:1 imports ../session/decide.ts, but errors may only import nothing of ours',
  },
  'a wall crossed at run time': {
    rule: walled,
    files: one('src/cli/main.ts', "const { decide } = await import('../session/decide.ts')"),
    says: `src/cli/main.ts:1 imports ../session/decide.ts, but cli may only import ${mayOf('cli')}`,
  },
  'a wall crossed inside a type': {
    rule: walled,
    files: one('src/relay/relay.ts', "export type Row = import('../session/state.ts').State"),
    says: `src/relay/relay.ts:1 imports ../session/state.ts, but relay may only import ${mayOf('relay')}`,
  },
  'a wall crossed with require': {
    rule: walled,
    files: one('src/config/load.ts', "const edge = require('../edge/acp/connection.ts')"),
    says: `src/config/load.ts:1 imports ../edge/acp/connection.ts, but config may only import ${mayOf('config')}`,
  },
  'an adapter that knows the adapter of another port': {
    rule: walled,
    files: one('src/adapters/mcp/transport/stdio.ts', "import { spawn } from '../../process/spawn.ts'"),
    says: `src/adapters/mcp/transport/stdio.ts:1 imports ../../process/spawn.ts, but adapters/mcp may only import ${mayOf('adapters/mcp')}`,
  },
  'an adapter named outside compose.ts': {
    rule: walled,
    files: one('src/server/daemon/serve.ts', "import { clock } from '../../adapters/clock.ts'"),
    says: 'src/server/daemon/serve.ts:1 imports ../../adapters/clock.ts, but in server only src/server/compose/compose.ts may name an adapter',
  },
  'a module of Node in the core': {
    rule: walled,
    files: one('src/session/id.ts', "import { randomBytes } from 'node:crypto'"),
    says: "src/session/id.ts:1 imports node:crypto, but session may import none of Node's own modules",
  },
  'a relay that does more than pass bytes': {
    rule: walled,
    files: one('src/relay/relay.ts', "import { connect } from 'node:net'\nimport { readFile } from 'node:fs/promises'"),
    says: "src/relay/relay.ts:2 imports node:fs/promises, but relay may import net, stream of Node's own modules",
  },
  'a module of Node without its prefix': {
    rule: walled,
    files: one('src/config/load.ts', "import { readFileSync } from 'fs'"),
    says: 'src/config/load.ts:1 imports fs, which has no home; give it a row in test/architecture/law.ts',
  },
  'a package outside its folder': {
    rule: walled,
    files: one('src/edge/acp/connection.ts', "import { DatabaseSync } from '@photostructure/sqlite'"),
    says:
      'src/edge/acp/connection.ts:1 imports @photostructure/sqlite, ' +
      `but only ${(packages['@photostructure/sqlite'] ?? []).join(', ')} may import @photostructure/sqlite`,
  },
  'a package in the core': {
    rule: walled,
    files: one('src/session/domain/entries.ts', "import { z } from 'zod/v4'"),
    says:
      'src/session/domain/entries.ts:1 imports zod/v4, ' +
      `but only ${(packages['zod'] ?? []).join(', ')} may import zod`,
  },
  'a package that nobody listed': {
    rule: walled,
    files: one('src/server/log/log.ts', "import leftPad from 'left-pad'"),
    says: 'src/server/log/log.ts:1 imports left-pad, which has no home; give it a row in test/architecture/law.ts',
  },
  'an import of something computed': {
    rule: walled,
    files: one('src/cli/main.ts', 'await import(`./commands/${verb}.ts`)'),
    says: 'src/cli/main.ts:1 imports what only running it can tell; name the module in a string',
  },
  'an import without its ending': {
    rule: walled,
    files: one('src/session/domain/decide.ts', "import type { State } from './state.js'"),
    says: 'src/session/domain/decide.ts:1 imports ./state.js, but a relative import ends with .ts',
  },
  'an import of a test': {
    rule: walled,
    files: one('src/session/domain/decide.ts', "import { given } from './evolve.test.ts'"),
    says: 'src/session/domain/decide.ts:1 imports ./evolve.test.ts, but nothing may import a test',
  },
  'an import from outside src/': {
    rule: walled,
    files: one('src/session/domain/decide.ts', "import { given } from '../../test/story.ts'"),
    says: 'src/session/domain/decide.ts:1 imports ../../test/story.ts, which is outside the rooms of src/',
  },
  'a circle, though only of types': {
    rule: rules['nothing imports in a circle'],
    files: {
      'src/session/a.ts': "import type { B } from './b.ts'",
      'src/session/b.ts': "import type { C } from './c.ts'",
      'src/session/c.ts': "import type { A } from './a.ts'",
    },
    says: 'src/session/c.ts:1 closes a circle: src/session/a.ts → src/session/b.ts → src/session/c.ts → src/session/a.ts',
  },
  'a command line that loads the server to print its help': {
    rule: rules['a command waits only for what it needs'],
    files: {
      'src/cli/main.ts': "import { ls } from './commands/sessions/ls.ts'\nawait import('./commands/sessions/run.ts')",
      'src/cli/commands/sessions/ls.ts': "import { serve } from '../../../server/daemon/serve.ts'",
      'src/cli/commands/sessions/run.ts': "import { serve } from '../../../server/daemon/serve.ts'",
    },
    says:
      'src/cli/commands/sessions/ls.ts:1 imports ../../../server/daemon/serve.ts, ' +
      'and src/cli/main.ts would wait for it; reach it by import()',
  },
  'an environment variable read outside config': {
    rule: doors,
    files: one('src/server/daemon/serve.ts', 'const home = process.env.PARLEY_HOME'),
    says:
      'src/server/daemon/serve.ts:1 says process.env, which is the environment; ' +
      'only config reads it; take the value as an argument',
  },
  'an environment taken apart': {
    rule: doors,
    files: one('src/server/daemon/serve.ts', 'const { env: ours } = process'),
    says:
      'src/server/daemon/serve.ts:1 says process.env, which is the environment; ' +
      'only config reads it; take the value as an argument',
  },
  'an environment imported': {
    rule: doors,
    files: one('src/server/daemon/serve.ts', "import { env } from 'node:process'"),
    says: 'src/server/daemon/serve.ts:1 says env, which is the environment; only config reads it; take the value as an argument',
  },
  'an exit outside cli': {
    rule: doors,
    files: one('src/server/daemon/serve.ts', 'process.exit(1)'),
    says:
      'src/server/daemon/serve.ts:1 says process.exit, which is the command line or the exit code; ' +
      'only cli reads argv and decides how the process ends; return or throw',
  },
  'a clock of its own': {
    rule: doors,
    files: one('src/edge/acp/connection.ts', 'const at = Date.now()'),
    says:
      'src/edge/acp/connection.ts:1 says Date.now, which is the time, a timer, an id or chance; ' +
      'take a Clock from ports/clock.ts',
  },
  'a timer from the global object': {
    rule: doors,
    files: one('src/edge/acp/connection.ts', 'globalThis.setTimeout(stop, 10)'),
    says:
      'src/edge/acp/connection.ts:1 says globalThis.setTimeout, which is the time, a timer, an id or chance; ' +
      'take a Clock from ports/clock.ts',
  },
  'a timer handed on': {
    rule: doors,
    files: one('src/edge/acp/connection.ts', '\nconst sleep = promisify(setTimeout), idle = socket.setTimeout(5)'),
    says:
      'src/edge/acp/connection.ts:2 says setTimeout, which is the time, a timer, an id or chance; ' +
      'take a Clock from ports/clock.ts',
  },
  'a timer under another name': {
    rule: doors,
    files: one('src/edge/acp/connection.ts', "import { setTimeout as sleep } from 'node:timers/promises'"),
    says:
      'src/edge/acp/connection.ts:1 says setTimeout, which is the time, a timer, an id or chance; ' +
      'take a Clock from ports/clock.ts',
  },
  'the time of day as a new Date': {
    rule: doors,
    files: one('src/edge/acp/connection.ts', 'const at = new Date()'),
    says:
      'src/edge/acp/connection.ts:1 says new Date, which is the time, a timer, an id or chance; ' +
      'take a Clock from ports/clock.ts',
  },
  'a Date in the core': {
    rule: doors,
    files: one('src/session/domain/title.ts', 'export const iso = (at: number) => String(Date)'),
    says: 'src/session/domain/title.ts:1 says Date, which is Date; the core counts milliseconds that it was given',
  },
  'a thread of its own': {
    rule: rules['a thread is started in one place'],
    files: one('src/adapters/checking/checker.ts', "import { type MessagePort, Worker } from 'node:worker_threads'"),
    says: 'src/adapters/checking/checker.ts:1 starts a thread of its own; use src/threads/worker-thread.ts',
  },
  'an import of what runs when it is loaded': {
    rule: rules['nothing imports the entry of a thread'],
    files: {
      'src/adapters/checking/worker.ts': "import { parentPort } from 'node:worker_threads'",
      'src/adapters/checking/checker.ts': "import type { Job } from './worker.ts'",
    },
    says:
      'src/adapters/checking/checker.ts:1 imports ./worker.ts, which is the entry of a thread; ' +
      'move what both need to a file of its own',
  },
  'a port with a value': {
    rule: rules['ports emit no JavaScript'],
    files: one('src/ports/fault.ts', "export type Point = 'a'\nexport interface P {}\nexport const points = ['a']"),
    says: 'src/ports/fault.ts:3 emits JavaScript, but a port is types only',
  },
  'a port that imports a value': {
    rule: rules['ports emit no JavaScript'],
    files: one('src/ports/fault.ts', "import { fail } from '../errors/parley-error.ts'"),
    says: 'src/ports/fault.ts:1 emits JavaScript, but a port is types only',
  },
  'a core that knows a method of ACP': {
    rule: rules['the core knows no wire'],
    files: one('src/session/session.ts', "\nexport const NAME = 'session/update'"),
    says: 'src/session/session.ts:2 says session/update, which is a word of ACP; the edge translates it',
  },
  'a core that knows a field of ACP': {
    rule: rules['the core knows no wire'],
    files: one('src/session/session.ts', 'export const meta = (params: Meta) => params._meta'),
    says: 'src/session/session.ts:1 says _meta, which is a word of ACP; the edge translates it',
  },
  'an export of everything': {
    rule: everywhere['nothing exports everything'],
    files: one('src/index.ts', "export * from './server/serve.ts'"),
    says: 'src/index.ts:1 says export *; name what is exported',
  },
  'a folder of thirteen': {
    rule: rules['a folder has at most twelve files'],
    files: Object.fromEntries(Array.from({ length: 13 }, (_, n) => [`src/session/f${n}.ts`, ''])),
    says: 'src/session has 13 files; find the sub-folders in it',
  },
  'five callbacks that travel together': {
    rule: rules['an interface has at most four callbacks'],
    files: one(
      'src/session/turn.ts',
      'interface Host { a(): void; b(): void; c: () => void; d(): void; e(): void; f: string }',
    ),
    says: 'src/session/turn.ts:1 Host has 5 callbacks; pass the object that they belong to',
  },
  'a class of nine others': {
    rule: rules['a class has at most eight collaborators'],
    files: one(
      'src/session/session.ts',
      `${[...'abcdefghi'].map((n) => `class ${n.toUpperCase()}x {}`).join('\n')}
class All { ${[...'abcdefghi'].map((n) => `readonly #${n}: ${n.toUpperCase()}x`).join('\n')} }`,
    ),
    says: 'src/session/session.ts:10 All works with 9 other classes: Ax, Bx, Cx, Dx, Ex, Fx, Gx, Hx, Ix',
  },
  'a barrel': {
    rule: everywhere['there are no barrels'],
    files: { 'src/session/index.ts': '', 'src/index.ts': '' },
    says: 'src/session/index.ts:1 is a barrel; name the file after what it holds',
  },
  'a file that opens without a word': {
    rule: everywhere['a file opens with a sentence'],
    files: {
      'src/session/domain/decide.ts': 'export const a = 1',
      'src/cli/main.ts': '#!/usr/bin/env node\n/** Here. */',
    },
    says: 'src/session/domain/decide.ts:1 has no opening sentence; say in a /** comment */ what a stranger finds here',
  },
}

describe('a rule catches', () => {
  test.each(Object.entries(cases))('%s', (_name, { rule, files, says }) => {
    const parsed = Object.entries(files).map(([path, text]) => parse({ path, text }))
    expect(rule(parsed)).toEqual([says])
  })
})
