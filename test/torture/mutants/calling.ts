/** Without what ends every call in a word that is true, and keeps what it brought. */
import { calls, http, inFile, newest, spawning, stdio, sse, type Mutant } from './mutant.ts'

const LOST = 'if (open.methods.has(id)) transport.onmessage?.(lostAnswer(id))'
const CANCEL = "signal.addEventListener('abort', cancel, { once: true })"
const DEAD = 'if (error instanceof SdkHttpError) return error.status === 404'

export const calling: readonly Mutant[] = [
  ...inFile('adapters/tools/mcp/wire.ts', [
    ['M7 G1', LOST, '', http('M7 G1')],
    ['G1', LOST, '', http('ends an answer without one')],
    ['M7 M8', LOST, '', newest('breaks an answer off in the newest protocol')],
    ['C1 G7', "else if (method === 'tools/call') tameCall(result)", '', calls('answers with every kind of content')],
  ]),
  ...inFile('adapters/tools/mcp/http-stream.ts', [
    [
      'G1 H7',
      'return isFinal ? new Response(null, { status: 405 }) : response',
      'return response ?? Response.error()',
      http('promises to go on with an answer and does not'),
    ],
    ['H7 H9', 'if (response?.ok === true) return response', '', http('goes on with an answer elsewhere')],
  ]),
  ...inFile('adapters/tools/mcp/link.ts', [
    [
      'G1',
      "if (server.type === 'sse') void http.transport.close()",
      'if (false) void 0',
      sse('loses the stream of SSE in the middle of a call'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/request.ts', [
    ['H4 G2', DEAD, 'if (false) return false', http('forgets its sessions while ten calls come')],
    ['H4', DEAD, 'if (false) return false', http('forgets every session at once')],
    ['E4', 'error.status >= 400 && error.status < 500', 'error.status >= 400', http('is overloaded once')],
    ['H8 P3', CANCEL, '', http('is told of a cancelled call by word')],
    ['P3 S7', CANCEL, '', calls('answers after it was told to stop')],
    [
      'P1 P2',
      'if (clock.elapsed() - told >= PROGRESS_PAUSE_MS) end()',
      'end()',
      calls('shows progress ten thousand times'),
    ],
    [
      'B3',
      'if (error instanceof ProtocolError && error.code !== ANSWER_LOST) throw new Refused(error)',
      'throw new Refused({ code: 0, message: reasonIn(error) })',
      stdio('answers with results of no known type'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/deadline.ts', [
    ['L6', '      onOver(limit)\n', '', calls('L6')],
    [
      'L6 G13',
      'left < quietMs ? [left, totalMs] : [quietMs, quietMs]',
      '[quietMs, quietMs]',
      calls('shows progress for ever'),
    ],
    ['U4 U5', 'if (held > 0 || over) return', 'if (over) return', calls('U4 U5')],
  ]),
  ...inFile('adapters/tools/registry.ts', [
    [
      'L6',
      '{ ...own, name, ...limitsFor(item.original, server.config.rules, own) }',
      '{ ...own, name }',
      calls('L6 (per server)'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/stdio-transport.ts', [
    [
      'S9',
      '      this.onerror?.(error as Error)\n      return',
      '      throw error',
      stdio('writes a banner and junk'),
    ],
    [
      'S10',
      'if (!(error instanceof LineTooLong)) throw error',
      'throw error',
      stdio('answers with a line without end'),
    ],
    ['S6', 'if (!this.#closed) void child.stop(this.#options.graceMs)', '', stdio('closes its output and stays')],
    [
      'S6 G10',
      "const said = complaints.trim().split('\\n').slice(-3).join(' ')",
      "const said = ''",
      stdio('ends in the middle of a call'),
    ],
    ['S6 G10', ': `signal ${signal}`', ": 'a signal'", stdio('is killed in the middle of a call')],
  ]),
  ...inFile('adapters/tools/mcp/lines.ts', [
    [
      'S1',
      "Buffer.concat(waiting).toString('utf8')",
      "waiting.map((one) => Buffer.from(one).toString('utf8')).join('')",
      stdio('splits its characters'),
    ],
  ]),
  ...inFile('adapters/tools/rounds.ts', [
    ['R4', 'return result.isError ?', 'return true ?', calls('asks the person in rounds')],
  ]),
  ...inFile('adapters/tools/mcp/call.ts', [
    ['R4', 'return declined && !(', 'return false && !(', calls('demands a page to be visited')],
    ['B4', 'arguments: args, ...(', "arguments: args, _meta: { 'org.mcp/x': 1 }, ...(", stdio('B1 B2 B4')],
    [
      'C2',
      'text: line.redact(error.message) }], isError: true }',
      'text: error.message }], isError: true }',
      calls('refuses in the protocol'),
    ],
    [
      'C7',
      'return withBrief(readResult(result), options.caller?.toolCallId)',
      'return readResult(result)',
      calls('answers with fifty megabytes'),
    ],
    [
      'K1 G17',
      'if (isObject(result.task) && result.content === undefined)',
      'if (false)',
      calls('answers with a task'),
    ],
    [
      'U8',
      'const asked = error.code === NEEDS_URL && ',
      'const asked = false && ',
      calls('demands a page to be visited'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/content.ts', [
    [
      'C4 C5',
      'content.length > 0 ? content : [',
      'content.length >= 0 ? content : [',
      calls('answers with structured content alone'),
    ],
    [
      'C2',
      'return { content, isError: raw.isError === true }\n  if',
      'return { content, isError: false }\n  if',
      calls('fails in words'),
    ],
    [
      'C7',
      'const RESULT_LIMIT = 10 * 1024 * 1024',
      'const RESULT_LIMIT = 2 ** 30',
      calls('answers with fifty megabytes'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/session.ts', [
    [
      'C3 G7',
      'if (odd !== undefined) warn(`a result of tool',
      'if (odd !== undefined) throw new Error(`a result of tool',
      calls('does not keep the promise of its output'),
    ],
  ]),
  ...inFile('adapters/tools/checking/schema.ts', [
    [
      'J2',
      'return { check: () => undefined, fault: reasonOf(error) }',
      'throw error',
      calls('promises output in a schema that is broken'),
    ],
    [
      'founding B',
      'if (!contradicts(schema)) return inner',
      'return inner',
      calls('has a schema that contradicts itself'),
    ],
  ]),
  ...inFile('adapters/tools/restarts.ts', [
    ['S6', '?? (forEver ? pausesMs.at(-1) : undefined)', '?? pausesMs.at(-1)', stdio('ends soon after each start')],
  ]),
  ...inFile('adapters/tools/server.ts', [
    [
      'S6',
      'const timer = this.config.lazy ? undefined : clock.after(pause, () => this.#connectNow())',
      'const timer = undefined as Timer | undefined',
      stdio('ends once'),
    ],
    [
      'G2 H4',
      'await options.onAgain?.(error.message)\n    }',
      'throw error\n    }',
      http('forgets its sessions while ten calls come'),
    ],
  ]),
  ...inFile('adapters/process/child.ts', [
    ['S3', "signalGroup(pid, 'SIGTERM')", '', spawning('asks before it kills')],
    [
      'S2',
      'const tail = tailOf(stderr)',
      "const tail = () => ''",
      spawning('may write ten megabytes of complaints without being held up'),
    ],
  ]),
  ...inFile('adapters/process/environment.ts', [
    [
      'S12 G11',
      'value !== undefined && isAllowed(name) && ',
      'value !== undefined && ',
      stdio('tells its environment'),
    ],
  ]),
]
