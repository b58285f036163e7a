/** The public API of the client, for other programs and for browsers: `import { connect } from '@parley-sessions/parley/client'`. */
export { type Client, type PromptContent, type PromptOptions, type SessionInfo, connect } from './client/client.ts'
export type { ClientDelegate, ConnectionEvent } from './client/client-delegate.ts'
export { type ClientErrorCode, ClientError, isClientError } from './client/client-error.ts'
export { type WebSocketConnection, type WebSocketOptions, overWebSocket } from './client/connection/over-web-socket.ts'
export type { ConnectionDeps } from './client/connection/reconnecting-connection.ts'
export type { PromptResult, Stopping, Suggested } from './client/connection/responses.ts'
export type { SilenceTimeout } from './client/connection/silence-timeout.ts'
export type { WebSocketLike } from './client/connection/web-socket.ts'
export { type ClientTransport, type LineOutput, openLineTransport } from './client/connection/transport.ts'
export type {
  ClientFiles,
  ClientForms,
  ClientPages,
  ClientServices,
  ClientTerminals,
  FormAnswer,
  FormRequest,
  PageRequest,
  ReadRequest,
  TerminalExit,
  TerminalOutput,
  TerminalRequest,
  WriteRequest,
} from './client/incoming/client-methods.ts'
export type { McpNotice, Notice, PresenceNotice, Present, QueueNotice, TurnNotice } from './client/incoming/notices.ts'
export type { PermissionQuestion, Withdrawal } from './client/incoming/permission-requests.ts'
export {
  type Command,
  type Content,
  type PermissionOption,
  type PlanEntry,
  type ToolCallContent,
  type ToolCallUpdate,
  type Update,
  type UpdateParams,
  textIn,
} from './client/incoming/updates.ts'
export type { Capabilities, ClientInfo, ClientOptions, NoticeKind } from './client/initialize.ts'
export type {
  AgentChoice,
  AgentChoices,
  CountedAnswer,
  FoundFiles,
  OutlinePrompt,
  SessionPage,
} from './client/sessions/stored-sessions.ts'
export type { SessionToOpen } from './client/sessions/attachments.ts'
export type { SettingChoice, Setting } from './client/sessions/agent-settings.ts'
export {
  type CallPermission,
  type Item,
  type MessageItem,
  type OtherItem,
  type Range,
  type Resolution,
  type Resolved,
  type MessageRole,
  type ToolCallItem,
  roleOf,
} from './client/transcript/items.ts'
export {
  type AskedPermission,
  GrowingTranscript,
  type TranscriptEvent,
  type Page,
  type Transcript,
  cancelled,
  emptyTranscript,
  withNews,
  withOlder,
  withUpdates,
  withoutOldest,
} from './client/transcript/transcript.ts'
