/** The least that Node can do: answers the first line of its input, and nothing else. */
process.stdin.once('data', () => {
  process.stdout.write(
    '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}}\n',
  )
})
