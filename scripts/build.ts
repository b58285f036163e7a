/** `npm run build`, and the end of `npm ci`: makes the bundles, and says something only when something is wrong. */
import { type BuildOptions, build } from 'rolldown'
import config from '../rolldown.config.ts'

// The command line of rolldown lists each of two hundred chunks; its library tells warnings alone. One after the other, for
// the first empties the directory.
for (const options of config) await build(options as BuildOptions)
