/** An index whose every answer keeps to the rules of permission, as they are when it is asked. */
import type { PathAccess } from '../access/path-access.ts'
import type { DocumentIndex, Scoped } from './index/worker/protocol.ts'

export function guarded(index: DocumentIndex, access: () => Promise<PathAccess>): DocumentIndex {
  const within = async <Request extends Scoped>(request: Request): Promise<Request> => ({
    ...request,
    access: await access(),
  })
  return {
    passages: async (request) => index.passages(await within(request)),
    documents: async (request) => index.documents(await within(request)),
    read: async (request) => index.read(await within(request)),
    list: async (request) => index.list(await within(request)),
    outline: async (request) => index.outline(await within(request)),
    show: async (request) => index.show(await within(request)),
  }
}
