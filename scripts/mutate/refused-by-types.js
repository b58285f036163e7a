/** Changes that need no test, because the type checker refuses them. JavaScript: Stryker's own processes load it too. */

/** The row of an error's code says which details it has. */
const errorDetails = {
  kind: 'Ignore',
  name: 'error-details',
  value: {
    shouldIgnore({ node, parent, listKey, key }) {
      if (node.type !== 'ObjectExpression' || listKey !== 'arguments' || key !== 1) return undefined
      const { name } = parent.callee
      return name === 'fail' || name === 'ParleyError' ? 'details of an error' : undefined
    },
  },
}

export const strykerPlugins = [errorDetails]
