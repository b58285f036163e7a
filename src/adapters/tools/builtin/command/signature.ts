/** The part of a command line that an "always" may be said of, so that it never allows what nobody has thought of. */

/** Words without anything that the shell would make something else of. */
const PLAIN_LINE = /^[\w.,:=@%+/ -]+(?:"[\w.,:=@%+/ ()-]*"|'[\w.,:=@%+/ ()-]*'|[\w.,:=@%+/ -])*$/u

/** Programs whose first argument says what they do. */
const WITH_VERBS = new Set(
  `apt apt-get brew bun bundle cargo composer conda deno docker dotnet gem gh git go gradle helm hg just kubectl make mix
  mvn npm nx pip pip3 pnpm podman poetry pre-commit rails rake rustup svn swift systemctl task terraform turbo uv yarn zig`.split(
    /\s+/u,
  ),
)

/** And whose second argument says more: `npm run build`. */
const WITH_TWO_VERBS = new Set([
  'bun run',
  'cargo run',
  'composer run',
  'deno task',
  'docker compose',
  'docker container',
  'docker image',
  'docker volume',
  'gh api',
  'gh issue',
  'gh pr',
  'gh release',
  'gh repo',
  'gh run',
  'git remote',
  'git stash',
  'git submodule',
  'git worktree',
  'go mod',
  'go tool',
  'npm run',
  'npm exec',
  'pnpm run',
  'pnpm exec',
  'pnpm dlx',
  'poetry run',
  'uv pip',
  'uv run',
  'yarn run',
])

/** Programs that run, remove or send whatever they are told to: only the very same line is the same thing. */
const ANYTHING = new Set(
  `. awk bash busybox chmod chown command cp curl dash dd doas env eval exec expect fish find gawk install kill killall ksh ln
  lua mkfs mv nc ncat nice nohup node npx osascript parallel perl php pkill python python2 python3 rm rmdir rsync ruby scp screen
  sed setsid sh shred socat source ssh stdbuf strace su sudo tar tee telnet time timeout tmux truncate unlink unzip watch wget
  xargs zip zsh`.split(/\s+/u),
)

/** `npm test`, `git status`; the whole line where it is more than one simple command. */
export function signatureOf(line: string): string {
  const whole = line.trim()
  if (!PLAIN_LINE.test(whole)) return whole
  const [program = '', verb = '', object = ''] = whole.split(/\s+/u)
  if (program.includes('=') || program.includes('/') || ANYTHING.has(program)) return whole
  if (!WITH_VERBS.has(program)) return program
  if (!isWord(verb)) return whole
  const two = `${program} ${verb}`
  if (!WITH_TWO_VERBS.has(two)) return two
  return isWord(object) ? `${two} ${object}` : whole
}

/** An option before the verb changes what the verb means. */
function isWord(text: string): boolean {
  return /^[A-Za-z][\w:.-]*$/u.test(text)
}
