/** The public API for embedding Parley in another program: a server or an owner, its configuration, its errors. */
export { loadConfig } from './config/load.ts'
export type { Config } from './config/settings.ts'
export { catalogue, type ErrorCode } from './errors/catalogue.ts'
export { ParleyError, isParleyError } from './errors/parley-error.ts'
export { openEmbedded, type EmbeddedServer } from './server/daemon/embedded.ts'
export { openServer, type HostedServer, type ServerSettings } from './server/daemon/hosted.ts'
