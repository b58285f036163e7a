/** Tasks of making and changing files. */
import { type Task, call, edit, holds, holdsWord, isGone, read, say, textOf, used } from './task.ts'

export const writing: readonly Task[] = [
  {
    name: 'make a file',
    prompt: 'Make greetings/hello.txt with exactly this line: Hello from the harbour',
    files: {},
    solution: [
      [call('write_file', { path: 'greetings/hello.txt', content: 'Hello from the harbour\n' })],
      say('Done.'),
    ],
    check: (done) => holdsWord(done, 'greetings/hello.txt', /^Hello from the harbour\n?$/u),
  },
  {
    name: 'change one value of a configuration',
    prompt: 'In config.json set the port to 8443. Change nothing else.',
    files: { 'config.json': '{\n    "host": "127.0.0.1",\n    "port": 8080,\n\n    "tags": ["a","b"]\n}\n' },
    solution: [[read('config.json')], [edit('config.json', ['"port": 8080', '"port": 8443'])], say('Done.')],
    check: (done) =>
      holds(done, 'config.json', '{\n    "host": "127.0.0.1",\n    "port": 8443,\n\n    "tags": ["a","b"]\n}\n'),
  },
  {
    name: 'several edits in one file',
    prompt: 'In list.txt write apple as Apple, pear as Pear and plum as Plum.',
    files: { 'list.txt': 'apple\nfig\npear\nlime\nplum\n' },
    solution: [
      [read('list.txt')],
      [edit('list.txt', ['apple', 'Apple'], ['pear', 'Pear'], ['plum', 'Plum'])],
      say('Done.'),
    ],
    check: (done) => holds(done, 'list.txt', 'Apple\nfig\nPear\nlime\nPlum\n'),
  },
  {
    name: 'keep the line ends of Windows',
    prompt: 'In notes.txt replace the word draft by final.',
    files: { 'notes.txt': 'first\r\ndraft\r\nlast\r\n' },
    solution: [[read('notes.txt')], [edit('notes.txt', ['draft', 'final'])], say('Done.')],
    check: (done) => holds(done, 'notes.txt', 'first\r\nfinal\r\nlast\r\n'),
  },
  {
    name: 'rename a function across files',
    prompt: 'Rename the function `area` to `surface` everywhere. `node main.mjs` must print what it prints now.',
    files: {
      'shapes.mjs': 'export function area(a, b) {\n  return a * b\n}\n',
      'print.mjs': "import { area } from './shapes.mjs'\nexport const line = () => `It is ${area(6, 7)}`\n",
      'main.mjs': "import { line } from './print.mjs'\nconsole.log(line())\n",
    },
    solution: [
      [read('shapes.mjs'), read('print.mjs')],
      [
        edit('shapes.mjs', ['function area', 'function surface']),
        edit('print.mjs', ['{ area }', '{ surface }'], ['${area(', '${surface(']),
      ],
      [call('run_command', { command: 'node main.mjs' })],
      say('Renamed; it still prints 42.'),
    ],
    check: (done) => [
      ...holdsWord(done, 'shapes.mjs', 'surface'),
      ...holdsWord(done, 'print.mjs', 'surface'),
      ...(/\barea\b/u.test(`${textOf(done, 'shapes.mjs')}${textOf(done, 'print.mjs')}`)
        ? ['area is still there.']
        : []),
    ],
  },
  {
    name: 'mend a failing test',
    prompt: '`node check.mjs` fails. Mend the code, not the check, and run it again.',
    files: {
      'median.mjs':
        'export function median(numbers) {\n  const sorted = [...numbers].sort()\n  return sorted[Math.floor(sorted.length / 2)]\n}\n',
      'check.mjs':
        "import { median } from './median.mjs'\nif (median([9, 10, 100]) !== 10) throw new Error('median is wrong')\nconsole.log('ok')\n",
    },
    solution: [
      [call('run_command', { command: 'node check.mjs' }), read('median.mjs')],
      [edit('median.mjs', ['.sort()', '.sort((a, b) => a - b)'])],
      [call('run_command', { command: 'node check.mjs' })],
      say('The sort was by text; it passes now.'),
    ],
    check: (done) => [
      ...holdsWord(done, 'median.mjs', /sort\(\s*\(?\w/u),
      ...holdsWord(done, 'check.mjs', 'median is wrong'),
    ],
  },
  {
    name: 'move code into a file of its own',
    prompt: 'Move the function slug from app.mjs into slug.mjs and import it. `node app.mjs` must still work.',
    files: {
      'app.mjs':
        "function slug(text) {\n  return text.toLowerCase().replaceAll(' ', '-')\n}\nconsole.log(slug('Big Blue'))\n",
    },
    solution: [
      [read('app.mjs')],
      [
        call('write_file', {
          path: 'slug.mjs',
          content: "export function slug(text) {\n  return text.toLowerCase().replaceAll(' ', '-')\n}\n",
        }),
        edit('app.mjs', [
          "function slug(text) {\n  return text.toLowerCase().replaceAll(' ', '-')\n}\n",
          "import { slug } from './slug.mjs'\n",
        ]),
      ],
      [call('run_command', { command: 'node app.mjs' })],
      say('Moved.'),
    ],
    check: (done) => [
      ...holdsWord(done, 'slug.mjs', /export .*slug/u),
      ...holdsWord(done, 'app.mjs', /import .*slug/u),
      ...(/function slug/u.test(textOf(done, 'app.mjs') ?? '') ? ['app.mjs still has the function.'] : []),
    ],
  },
  {
    name: 'gather every TODO',
    prompt: 'Write todo.txt with the text of every TODO comment below src/, one per line, and nothing else.',
    files: {
      'src/a.js': '// TODO: water the plants\nlet a = 1\n',
      'src/b/c.js': 'let c = 2 // TODO: feed the cat\n',
      'other.js': '// TODO: not this one\n',
    },
    solution: [
      [call('search_text', { pattern: 'TODO', path: 'src' })],
      [call('write_file', { path: 'todo.txt', content: 'water the plants\nfeed the cat\n' })],
      say('Two.'),
    ],
    check: (done) => [
      ...holdsWord(done, 'todo.txt', 'water the plants', 'feed the cat'),
      ...(textOf(done, 'todo.txt')?.includes('not this one') === true ? ['todo.txt has one from outside src/.'] : []),
    ],
  },
  {
    name: 'plan, then work',
    prompt: 'Make a plan of two steps that people can see, then do it: make one.txt with 1 and two.txt with 2.',
    files: {},
    solution: [
      [
        call('plan', {
          entries: [
            { content: 'Make one.txt', status: 'in_progress' },
            { content: 'Make two.txt', status: 'pending' },
          ],
        }),
      ],
      [
        call('write_file', { path: 'one.txt', content: '1\n' }),
        call('write_file', { path: 'two.txt', content: '2\n' }),
      ],
      say('Both are there.'),
    ],
    check: (done) => [...holdsWord(done, 'one.txt', '1'), ...holdsWord(done, 'two.txt', '2'), ...used(done, 'plan')],
  },
  {
    name: 'delete one file of two',
    prompt: 'Delete old.log. Keep new.log.',
    files: { 'old.log': 'old\n', 'new.log': 'new\n' },
    solution: [[call('run_command', { command: 'rm old.log' })], say('Deleted.')],
    check: (done) => [...isGone(done, 'old.log'), ...holds(done, 'new.log', 'new\n')],
  },
]
