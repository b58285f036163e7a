/** Without what keeps one list of tools, resources and prompts whole and current. */
import { calls, http, inFile, lists, newest, stdio, type Mutant } from './mutant.ts'

const BACK = "if ((await subscription.closed) === 'local') return"

export const listing: readonly Mutant[] = [
  ...inFile('adapters/tools/mcp/wire.ts', [
    ['T9 G6', '  result.tools = wire\n', '', lists('has malformed tools among good ones')],
    [
      'T1',
      "|| typeof result.nextCursor !== 'string') delete result.nextCursor",
      '|| !result.nextCursor) delete result.nextCursor',
      lists('pages by empty cursors'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/tool-list.ts', [
    [
      'J3',
      'if (isNestedDeeper(entry, DEEPEST)) return',
      'if (false) return',
      lists('has malformed tools among good ones'),
    ],
    ['K1 G17', 'return onlyAsTask ? ', 'return undefined ? ', lists('has malformed tools among good ones')],
    [
      'Z9',
      'const said = [name, title, description, ',
      'const said = [name, title, ',
      lists('changes what a tool says of itself'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/listing.ts', [
    [
      'T1',
      'if (!(error instanceof SdkError && error.code === SdkErrorCode.ListPaginationExceeded)) throw error',
      'throw error',
      lists('pages without end'),
    ],
    ['T7', 'if (byName.has(tool.original))', 'if (false)', lists('has one name twice')],
    [
      'X1',
      "if (typeof page.nextCursor !== 'string') return all",
      'return all',
      lists('pages its resources by empty cursors'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/offers.ts', [
    ['X6', "role: role === 'assistant' ? 'assistant' : 'user',", 'role,', lists('has resources and prompts')],
  ]),
  ...inFile('adapters/tools/names.ts', [
    [
      'T7 T8 G16',
      'return head.slice(0, LIMIT - suffix.length) + suffix',
      'return head.slice(0, LIMIT)',
      lists('T7 T8'),
    ],
  ]),
  ...inFile('adapters/tools/rules.ts', [
    ['G16', 'wanted(tool) && !unwanted(tool)', 'wanted(tool)', lists('P (include, exclude)')],
  ]),
  ...inFile('adapters/tools/mcp/coalesce.ts', [
    [
      'T2 G5',
      'const rest = Math.max(0, pause - (clock.elapsed() - begun))',
      'const rest = 0',
      lists('changes in a storm'),
    ],
    ['T2 G5', "else state = 'running, wished again'", '', lists('changes for four seconds')],
    ['T2', ': Math.min(before * 2, idlePauseMs)', ': pauseMs', lists('says after each list that it changed')],
  ]),
  ...inFile('adapters/tools/mcp/offer.ts', [
    ['T2', '    else changedEarly = true\n', '', lists('changes while it is first listed')],
    [
      'T2',
      'if (!over.aborted) session.warn(`its ${kind} could not be listed again: ${redact(reasonIn(error))}`)\n      return false',
      'throw error',
      lists('fails to list again'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/follow.ts', [
    [
      'N1 T3 P5',
      "if (client.getProtocolEra() !== 'modern' || announced.length === 0) return",
      'return',
      stdio('N1 T3 P5'),
    ],
    ['P6 G14', BACK, 'await subscription.closed\n      return', stdio('ends its subscription again and again')],
    ['T3 X5', '{ promptsListChanged: true }', '{}', stdio('has everything in the newest protocol')],
  ]),
  ...inFile('adapters/tools/mcp/session.ts', [
    ['X3', '  watching.watch(uri)\n', '', lists('tells of resources that were read')],
    ['X3 S6', '  watching.resume(request.watched)\n', '', stdio('forgets who watches when it ends')],
    ['U2', "if (client.getProtocolEra() === 'legacy') client", 'if (false) client', calls('asks where the work is')],
  ]),
  ...inFile('adapters/tools/mcp/watching.ts', [
    [
      'X3 P5',
      'const end = (): void => before?.abort()',
      'const end = (): void => undefined',
      lists('tells those who listen of resources'),
    ],
    ['X3', '    mark(uris)\n    },\n    watched', '    },\n    watched', stdio('forgets who watches when it ends')],
  ]),
  ...inFile('adapters/tools/mcp/offer.ts', [
    [
      'T4 G3',
      'if (isOld && !tells(kind, session, request.server)) wishes',
      'if (false) wishes',
      lists('changes without a word'),
    ],
    ['T4', 'isOld && !tells(kind, session, request.server)', 'isOld', lists('T4 (not asked again)')],
    [
      'T4',
      'Math.max(limits.staleMs, listing.holds.get(kind) ?? 0)',
      'limits.staleMs',
      lists('says that its list holds for an hour'),
    ],
  ]),
  ...inFile('adapters/tools/mcp/reading.ts', [
    ['T4 T5', ", cacheMode: 'bypass'", '', newest('lets everything be kept for an hour')],
  ]),
  ...inFile('adapters/tools/naming.ts', [
    ['T4 Z7', ', server.headers.toSorted(byName)', '', newest('lets everything be kept for an hour')],
  ]),
  ...inFile('adapters/tools/mcp/http-stream.ts', [
    ['H10 G3', 'maxRetries: Number.MAX_SAFE_INTEGER', 'maxRetries: 2', http('takes a dead stream for alive')],
  ]),
]
