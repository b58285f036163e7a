/** The errors of tools, MCP servers and processes: rows of the catalogue. */
import { INTERNAL, INVALID_PARAMS, row } from '../row.ts'

export const toolRows = {
  // Tools and MCP servers
  TOOL_UNKNOWN: row<{ tool: string }>(
    INVALID_PARAMS,
    false,
    (d) => `There is no tool ${d.tool} now. List the tools to see which there are.`,
  ),
  TOOL_ARGUMENTS: row<{ tool: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The arguments of tool ${d.tool} are invalid: ${d.reason}. It was not called.`,
  ),
  TOOL_TIMEOUT: row<{ tool: string; ms: number }>(
    INTERNAL,
    false,
    (d) => `Tool ${d.tool} did not answer within ${d.ms} ms and was cancelled; it may have run.`,
  ),
  SANDBOX_UNAVAILABLE: row<{ reason: string }>(
    INTERNAL,
    false,
    (d) =>
      `The command was not run: the setting command_sandbox is on, and no sandbox can be made here (${d.reason}). Install bubblewrap, see parley doctor, or set command_sandbox to auto or off.`,
  ),
  TOOL_CANCELLED: row<{ tool: string }>(-32800, false, (d) => `Tool ${d.tool} was cancelled; it may have run in part.`),
  TOOL_NOT_RUN: row<{ tool: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `Tool ${d.tool} was not run: ${d.reason}.`,
  ),
  TOOL_LOST: row<{ tool: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The result of tool ${d.tool} was lost: ${d.reason}. It may have run.`,
  ),
  TOOL_FAILED: row<{ reason: string }>(INTERNAL, false, (d) => d.reason),
  FILE_REFUSED: row<{ reason: string }>(INTERNAL, false, (d) => d.reason),
  MCP_SERVER_UNKNOWN: row<{ server: string; cwd: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `No MCP server with the name ${d.server} is configured on the server for ${d.cwd}. There, parley mcp ls lists those that are.`,
  ),
  MCP_NOT_CONFIGURED: row<{ name: string; known: string; next: string }>(
    INVALID_PARAMS,
    false,
    (d) => `No MCP server is called ${d.name} (${d.known}). ${d.next}`,
  ),
  MCP_CONFIGURED: row<{ name: string }>(
    INVALID_PARAMS,
    false,
    (d) => `There is already an MCP server ${d.name}. Remove it first: parley mcp rm ${d.name}`,
  ),
  RULE_UNKNOWN: row<{ prefix: string; known: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `No single rule has an id that begins with ${d.prefix}; ${d.known}. A rule that is written in a file is removed there.`,
  ),
  MCP_CONNECT: row<{ server: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `Could not connect to MCP server ${d.server}: ${d.reason}.`,
  ),
  MCP_LOGIN: row<{ server: string; word: string }>(
    INTERNAL,
    true,
    (d) => `MCP server ${d.server} requires a login. Run: parley mcp login ${d.word}`,
  ),
  MCP_LOGIN_FAILED: row<{ server: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `Not logged in to ${d.server}: ${d.reason}. Log in again.`,
  ),
  MCP_REQUEST: row<{ server: string; what: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `MCP server ${d.server} did not return ${d.what}: ${d.reason}.`,
  ),

  // Processes
  COMMAND_NOT_FOUND: row<{ command: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The command ${d.command} was not found. Install it, or give its absolute path.`,
  ),
  COMMAND_NOT_EXECUTABLE: row<{ command: string }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.command} exists but is not executable. Check its permissions.`,
  ),
  PROCESS_SPAWN: row<{ command: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `${d.command} could not be started: ${d.reason}.`,
  ),
  PROCESS_GONE: row<{ command: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `${d.command} has ended (${d.reason}).`,
  ),
}
