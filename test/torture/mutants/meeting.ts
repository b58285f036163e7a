/** Without what makes a server met, in whichever era and over whichever transport it speaks. */
import { http, inFile, lists, newest, stdio, sse, type Mutant } from './mutant.ts'

const AFRESH = "return way === 'auto' ? 'legacy' : 'auto'"
const IN_VAIN = 'new Set([400, 404, 405, 406, 410, 415])'
const FINAL = 'new Set([400, 401, 403, 404, 405, 410])'

export const meeting: readonly Mutant[] = [
  ...inFile('adapters/tools/pool.ts', [
    [
      'H5',
      'await Promise.all([...unused.map(([key, one]) => end(key, one)), ...leaving.values()])',
      '',
      http('is kept for sessions to come'),
    ],
    [
      'H5',
      'one.listeners.delete(listener) && one.listeners.size === 0',
      'one.listeners.delete(listener)',
      http('is left by two sessions'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/connect.ts', [
    ['N3', AFRESH, 'return undefined', stdio('dies when asked for the newest protocol')],
    ['N3', AFRESH, 'return undefined', stdio('is confused by the question and fails everything after it')],
    [
      'N3',
      "isProcess && way === 'auto' ? 'legacy' : undefined)",
      'undefined)',
      stdio('is confused by the question and lists no tools after it'),
    ],
    [
      'N3',
      "timeoutMs: way === 'patient' ? around.limits.connectMs : around.limits.probeMs",
      'timeoutMs: around.limits.connectMs',
      stdio('says nothing to the question'),
    ],
    [
      'N3 N5',
      "if (knowsNoHandshake(error)) return 'patient'",
      '',
      stdio('is slow to say that it speaks only the newest protocol'),
    ],
    ['N5', 'attempt.around.eras.foundLegacy(attempt.request.server)', 'undefined', stdio('N5')],
    [
      'L3 L7',
      'throw new AttemptFailed(end ?? reasonFor(error, request), ',
      'throw new AttemptFailed(TOO_LATE, ',
      stdio('speaks only 2023-01-01'),
    ],
    [
      'N9',
      "if (way === 'modern') return isUnreachable(error) ? undefined : 'assumed'",
      "if (way === 'modern') return undefined",
      stdio('says nothing of what it has'),
    ],
    ['E1 G4', IN_VAIN, 'new Set([])', sse('speaks only SSE behind an HTTP entry')],
    ['E1 G4', IN_VAIN, 'new Set([400, 405])', sse('speaks only SSE behind an HTTP entry')],
    ['E1 G4', IN_VAIN, 'new Set([404, 405])', sse('speaks only SSE behind an HTTP entry')],
    ['E1', '&& !isJsonRpc(data.text)', '', http('says in JSON-RPC that nothing is there')],
    ['N6 E4', 'POSTED_IN_VAIN.has(status) && ', '', http('is overloaded when it is met')],
    ['N6 E4', 'POSTED_IN_VAIN.has(status) && ', '', http('lets nobody in')],
    [
      'N4',
      "error.code === SdkErrorCode.RequestTimeout\n    ? 'legacy'",
      'error.code === SdkErrorCode.RequestTimeout\n    ? undefined',
      http('never answers the question for the newest protocol'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/about.ts', [
    ['L3', '...(protocol !== undefined && { protocol }),', '', stdio('speaks 2024-11-05')],
    ['N4', '...(era !== undefined && { era }),', '', http('400 and nothing')],
  ]),
  ...inFile('adapters/tools/mcp/wire.ts', [
    ['L3', "if (method === 'initialize') tameGreeting(result)\n  else if", 'if', stdio('greets with malformed words')],
  ]),
  ...inFile('adapters/tools/mcp/listing.ts', [
    ['L4 X1', 'if (listing.client.getServerCapabilities()?.[kind] === undefined) return {}', '', stdio('L1 L2 L4')],
  ]),
  ...inFile('adapters/tools/mcp/offer.ts', [
    [
      'X1',
      'await settledWithin(Promise.all(others), limits.moreMs, {',
      'await settledWithin(Promise.all(others), limits.connectMs, {',
      lists('lists resources never'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/http.ts', [
    ['H6', 'keepingStream(accepted(fetch), {', 'keepingStream(fetch, {', http('answers notifications with 200')],
  ]),
  ...inFile('adapters/tools/mcp/http-stream.ts', [
    ['H6', FINAL, 'new Set([400, 401, 403, 404, 410])', http('has no stream')],
    ['H6', FINAL, 'new Set([400, 401, 403, 405, 410])', http('says 404 where it has no stream')],
    ['H10', "asked === 'never asked for'\n      ?", 'false\n      ?', http('refuses its stream at first')],
    ['H10 G3', "if (was !== 'never asked for') onStreamBack()", '', http('loses its stream four times')],
    [
      'H12',
      "if (was === 'open' && (final || failures >= MOST_FAILURES)) onStreamGone",
      "if (was === 'open' && final) onStreamGone",
      http('takes a dead stream for alive'),
    ],
    ['H7', 'const SHORTEST_PAUSE_MS = 50', 'const SHORTEST_PAUSE_MS = 0', http('wants to be asked again in no time')],
  ]),
  ...inFile('adapters/tools/mcp/connect.ts', [
    [
      'E1 E4',
      'await Promise.race([connected, givenUp])',
      'await connected',
      sse('opens a stream of SSE and never says'),
    ],
    ['E1 G1', 'return POSTED_IN_VAIN.has(status)', 'return false', sse('G1 E1 (behind an HTTP entry)')],
  ]),
  ...inFile('adapters/tools/mcp/session.ts', [
    [
      'N5',
      "if (request.server.type !== 'stdio') around.eras.forget(request.server)",
      '',
      newest('is replaced by one that speaks the newest protocol'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/headers.ts', [
    ['H3', 'headers[key] = value', 'headers[name] = value', http('wants its headers on everything')],
  ]),
  ...inFile('adapters/tools/mcp/link.ts', [
    [
      'H5',
      'await Promise.race([http.end().catch(() => undefined), patience])',
      'await http.end().catch(() => undefined)',
      http('does not hear the goodbye'),
    ],
    [
      'H5',
      'await Promise.race([http.end().catch(() => undefined), patience])',
      '',
      http('wants its headers on everything'),
    ],
  ]),
]
