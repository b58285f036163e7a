/** Tasks of finding and answering. */
import { type Task, call, read, say, says, used } from './task.ts'

const NUMBERED = Array.from({ length: 20_000 }, (_, index) => `row ${index + 1} holds ${(index * 7_919) % 100_003}`)

export const reading: readonly Task[] = [
  {
    name: 'find a constant',
    prompt: 'Which file sets MAX_RETRIES, and to what number? Answer with the path and the number.',
    files: {
      'src/client.js': "import { MAX_RETRIES } from './limits/net.js'\nexport const tries = MAX_RETRIES\n",
      'src/limits/net.js': 'export const TIMEOUT = 30\nexport const MAX_RETRIES = 17\n',
      'src/limits/disk.js': 'export const RETRIES = 3\n',
    },
    solution: [[call('search_text', { pattern: 'MAX_RETRIES =' })], say('src/limits/net.js sets it to 17.')],
    check: (done) => says(done, 'src/limits/net.js', '17'),
  },
  {
    name: 'list files by pattern',
    prompt: 'How many Markdown files are below docs/? Answer with the number and the name of the longest path.',
    files: {
      'docs/a.md': '# A\n',
      'docs/b/b.md': '# B\n',
      'docs/b/c/deep.md': '# C\n',
      'docs/b/notes.txt': 'no\n',
      'readme.md': '# no\n',
    },
    solution: [[call('find_files', { pattern: 'docs/**/*.md' })], say('There are 3; the longest is docs/b/c/deep.md.')],
    check: (done) => says(done, /\b(3|three)\b/iu, 'docs/b/c/deep.md'),
  },
  {
    name: 'a line deep in a long file',
    prompt: 'What does row 7777 of rows.txt hold? Answer with the number alone.',
    files: { 'rows.txt': `${NUMBERED.join('\n')}\n` },
    solution: [[call('read_file', { path: 'rows.txt', line: 7_777, limit: 1 })], say('79339')],
    check: (done) => says(done, '79339'),
  },
  {
    name: 'answer from documents',
    prompt: 'According to our documents, after how many days is a deleted backup gone for good?',
    files: {
      'handbook/backups.md':
        '# Backups\n\nBackups are made each night.\n\n## Deleting\n\nA backup that somebody deletes can be had back for 45 days; after that it is gone for good.\n',
      'handbook/holidays.md': '# Holidays\n\nEverybody has 30 days.\n',
    },
    solution: [
      [call('search_documents', { query: 'deleted backup gone for good' })],
      say('After 45 days (handbook/backups.md).'),
    ],
    check: (done) => says(done, '45'),
  },
  {
    name: 'answer from Chinese documents',
    prompt: '根据文档，会话的日志保存在哪里？',
    files: {
      '手册/会话.md': '# 会话\n\n每个会话都有一份日志。日志保存在状态目录的 journal.db 文件里。\n',
      '手册/工具.md': '# 工具\n\n工具由服务器提供。\n',
    },
    solution: [[call('search_documents', { query: '日志 保存' })], say('保存在状态目录的 journal.db 文件里。')],
    check: (done) => says(done, 'journal.db'),
  },
  {
    name: 'two things at once',
    prompt: 'What are the versions in a/package.json and b/package.json? Answer with both.',
    files: { 'a/package.json': '{ "version": "1.4.2" }\n', 'b/package.json': '{ "version": "0.9.17" }\n' },
    solution: [[read('a/package.json'), read('b/package.json')], say('a is 1.4.2, b is 0.9.17.')],
    check: (done) => says(done, '1.4.2', '0.9.17'),
  },
  {
    name: 'run a command and tell what it said',
    prompt: 'Run `node report.mjs` and tell me its last word.',
    files: { 'report.mjs': "console.log(['ka', 'lei', 'do', 'scope'].join(''))\n" },
    solution: [[call('run_command', { command: 'node report.mjs' })], say('It said kaleidoscope.')],
    check: (done) => [...says(done, 'kaleidoscope'), ...used(done, 'run_command')],
  },
]
