/** The versions of ACP that this server speaks. */
import { fieldsOf } from '../../rpc/json-rpc.ts'
import { protocolV1 } from './v1/protocol-v1.ts'
import type { ProtocolVersion } from './version.ts'

/** Newest first. */
export type ProtocolVersions = readonly [ProtocolVersion, ...ProtocolVersion[]]

const VERSIONS: ProtocolVersions = [protocolV1]

/** The version that `initialize` asks for, else the newest: the client decides whether it can speak that. */
export function chooseVersion(params: unknown, versions: ProtocolVersions = VERSIONS): ProtocolVersion {
  const { protocolVersion } = fieldsOf(params)
  return versions.find(({ number }) => number === protocolVersion) ?? versions[0]
}

/** Loads what connections of every version need after `initialize`. */
export async function loadVersions(): Promise<void> {
  await Promise.all(VERSIONS.map((version) => version.load()))
}
