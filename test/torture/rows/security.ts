/** Rows of authorization, of what keeps people safe, and the gaps that the protocol's client library leaves. */
import { calls, excused, http, lists, logins, newest, official, row, sharing, stdio, within, type Row } from './row.ts'

const servers = within('test/e2e/cli-mcp.test.ts')
const account = within('test/e2e/mcp-processes.test.ts')

export const securityRows: readonly Row[] = [
  row(
    'A1',
    'a bearer header on every request, to its own server alone',
    official('auth/metadata-default'),
    logins('is kept for the user alone, by issuer'),
  ),
  row('A2', 'the metadata of the resource', official('auth/metadata-var1'), official('auth/metadata-var3')),
  row('A3', 'the metadata of the issuer', logins('as OpenID providers do'), official('auth/metadata-issuer-mismatch')),
  row('A4', 'PKCE with S256 or nothing', logins('without PKCE')),
  row(
    'A5',
    'tokens for this resource alone',
    logins('for another resource is refused'),
    official('auth/resource-mismatch'),
  ),
  row(
    'A6',
    'clients known beforehand, by document, or registered',
    logins('takes a client that was registered beforehand'),
    logins('names the document that says who we are'),
    official('auth/basic-cimd'),
  ),
  row(
    'A7',
    'what is registered says what we are',
    official('auth/pre-registration'),
    logins('registers a client once for the same way back'),
  ),
  row(
    'A8',
    'credentials of one issuer are for that alone',
    logins('is kept for the user alone, by issuer'),
    official('auth/authorization-server-migration'),
  ),
  row(
    'A9',
    'the issuer of an answer is checked',
    logins('with the word of another authorization server is none'),
    official('auth/iss-wrong-issuer'),
  ),
  row('A10', 'state is checked', logins('without its state is not for us')),
  row('A11', 'the scope that is asked for', official('auth/scope-from-www-authenticate')),
  row(
    'A12',
    'more rights, asked for once',
    logins('is not enough for one tool'),
    official('auth/scope-step-up'),
    official('auth/scope-retry-limit'),
  ),
  row('A13', 'offline access only where it is offered', official('auth/offline-access-not-supported')),
  row(
    'A14',
    'clients prove themselves as the issuer wants',
    official('auth/token-endpoint-auth-basic'),
    official('auth/token-endpoint-auth-none'),
  ),
  row(
    'A15',
    'tokens are kept safe and renewed once',
    logins('is renewed once for all sessions and processes'),
    logins('is kept for the user alone'),
  ),
  row(
    'A16',
    'https but for this machine',
    logins('with tokens in clear text'),
    logins('is not led there by a redirect either'),
  ),
  excused('A17', 'other grants', 'no must and no should'),

  row(
    'Z1',
    'what a project would start is shown whole and agreed to',
    servers('of a project start nothing in a session until they are allowed'),
  ),
  row('Z2', 'a warning before what is dangerous', within('src/config/danger.test.ts')('is warned of')),
  row(
    'Z3',
    'every process that is started stands in the log',
    account('every process that is started as a server is in the log'),
    within('src/config/danger.test.ts')('is warned of'),
  ),
  row(
    'Z4',
    'no server leads us deeper into our network',
    http('sends us elsewhere'),
    logins('169.254.169.254'),
    logins('is not led there by a redirect either'),
  ),
  row(
    'Z5',
    'only pages of the web are visited',
    calls("row: 'U7 Z5'"),
    within('src/cli/pages.test.ts')('is none, and nobody is asked'),
  ),
  row(
    'Z6',
    'no token of a client goes to a server',
    stdio('tells its environment'),
    within('test/e2e/secrets.test.ts')('secrets of servers and clients are in nothing'),
  ),
  row(
    'Z7',
    'what one may see the other may not',
    newest('lets everything be kept for an hour'),
    sharing('the order of variables makes no difference'),
  ),
  row(
    'Z8',
    'ports of ours listen on this machine and check who calls',
    within('test/docs-server/door.test.ts')('pages of this machine may call, also by name'),
  ),
  row('Z9', 'a tool that says something else is another', lists('changes what a tool says of itself')),

  row(
    'G1',
    'a broken answer ends its call',
    http('ends an answer without one'),
    http('loses the stream of SSE in the middle of a call'),
  ),
  row('G2', 'a forgotten session', http('forgets its sessions while ten calls come')),
  row('G3', 'a stream of notices that is lost', http('loses its stream four times'), lists('changes without a word')),
  row('G4', 'SSE behind an HTTP entry', http('speaks only SSE behind an HTTP entry'), http('behind an HTTP entry)')),
  row('G5', 'storms of changes', lists('changes in a storm'), lists('changes for four seconds')),
  row('G6', 'malformed tools', lists('has malformed tools among good ones')),
  row(
    'G7',
    'results that are not as promised',
    calls('does not keep the promise of its output'),
    calls('answers with every kind of content'),
  ),
  row('G8', 'headers of tools that were listed', newest('wants in a header what its list did not say')),
  row('G9', 'grandchildren', stdio('has a grandchild that ignores every signal')),
  row('G10', 'how a process ended', stdio('ends in the middle of a call'), stdio('is killed in the middle of a call')),
  row(
    'G11',
    'an environment in which programs work',
    within('src/adapters/process/spawn.test.ts')('sees the allow-listed environment'),
  ),
  row('G12', 'quiet servers', ['test/torture/main.ts', 'heard after six minutes']),
  row('G13', 'progress that never ends', calls('shows progress for ever')),
  row('G14', 'a subscription that ends', stdio('ends its subscription again and again')),
  row(
    'G15',
    'logins',
    logins('without its state is not for us'),
    logins('is renewed once for all sessions and processes'),
  ),
  row('G16', 'names, limits, sizes', lists("row: 'T7 T8'"), calls('answers with fifty megabytes')),
  excused('G17', 'tasks', 'they are told and not spoken', lists('has malformed tools among good ones')),
]
