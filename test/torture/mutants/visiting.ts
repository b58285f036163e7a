/** Without what keeps a person safe from the pages that servers want visited, and from their commands. */
import { inFile, type Mutant } from './mutant.ts'

const seen = (name: string): Mutant['test'] => ['src/cli/pages.test.ts', name]
const typed = (name: string): Mutant['test'] => ['src/cli/chat/composer.test.ts', name]
const warned: Mutant['test'] = ['src/config/danger.test.ts', 'is warned of']

export const visiting: readonly Mutant[] = [
  ...inFile('cli/pages.ts', [
    [
      'U7 Z5',
      "if (protocol !== 'https:' && protocol !== 'http:') return undefined",
      '',
      seen('is none, and nobody is asked'),
    ],
    ['U7', "label.startsWith('xn--')", 'false', seen('what is odd about an address is said')],
    ['U7', "if (chosen !== 'accept') return", "if (chosen === 'decline') return", seen('is not opened')],
    ['U7', 'title: `Visit a page of ${host}?`', "title: 'Visit a page?'", seen('is shown whole with its host')],
    ['U7', "note('plain', page.url)\n      return", 'return', seen('is left to the person, whole')],
  ]),
  ...inFile('cli/browser.ts', [
    [
      'U7 Z5',
      'spawn(command, [url], {',
      'spawn(`${command} ${url}`, { shell: true,',
      seen('is shown whole with its host'),
    ],
  ]),
  ...inFile('cli/chat/composer.ts', [
    [
      'X7',
      'if (command !== undefined && text !== undefined) {',
      'if (false) {',
      typed('completes the word behind a command'),
    ],
  ]),
  ...inFile('config/danger.ts', [['Z2 Z3', '(sudo|doas|pkexec|su|runuser)', '(doas)', warned]]),
]
