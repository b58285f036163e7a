/** Files that a program executes later without a user's doing, one by one, in a project and in a home directory. */
import { expect, test } from 'vitest'
import { wordsIn } from '../../test/fixtures/word-list.ts'
import { executorOf } from './path-rules.ts'

const EXECUTED = `
  .husky/pre-commit .husky/_/husky.sh .githooks/post-checkout .pre-commit-config.yaml lefthook.yml .lefthook/pre-push/x.sh
  sub/package/.husky/pre-push .gitconfig .config/git/config .gitmodules .hg/hgrc .hgrc .jj/repo/config.toml
  .ssh/authorized_keys .ssh/config .ssh/rc .bashrc .bash_logout .bash_profile .profile .zshrc .zshenv .ZSHRC .inputrc
  .config/fish/config.fish .config/autostart/x.desktop .config/autostart-scripts/x.sh .config/environment.d/x.conf .xprofile
  .local/share/applications/x.desktop Library/LaunchAgents/x.plist .config/systemd/user/x.service .local/share/systemd/user/x.timer
  etc/cron.d/x var/spool/cron/crontabs/me etc/profile.d/x.sh .forward .vscode/tasks.json .vscode/settings.json x.code-workspace
  .idea/workspace.xml .devcontainer/devcontainer.json .devcontainer.json .exrc .vimrc .config/nvim/init.lua .emacs .dir-locals.el
  .mcp.json .claude/settings.json .cursor/mcp.json .envrc sub/.envrc mise.toml .npmrc .yarnrc.yml .yarn/releases/yarn.cjs .pnpmfile.cjs
  .cargo/config.toml .config/pip/pip.conf sitecustomize.py lib/site-packages/x.pth .local/bin/git .gdbinit .tmux.conf
  .docker/config.json .kube/config .aws/config .gnupg/gpg-agent.conf
`

const PLAIN = `
  src/main.ts package.json Makefile README.md .gitignore .gitattributes .github/workflows/ci.yml tsconfig.json vite.config.ts
  tests/conftest.py bin/run.sh scripts/build.sh .env .editorconfig .prettierrc AGENTS.md docs/ssh.md hooks/use-state.ts
  src/profile/bashrc.ts .config/app/settings.json Cargo.toml src/vscode/tasks.json .parley/prompts/review.md
`

test.each(wordsIn(EXECUTED))('%s is executed later', (name) => {
  expect(executorOf(`/home/ada/project/${name}`)).toEqual(expect.any(String))
  expect(executorOf(`/${name}`)).toEqual(expect.any(String))
})

test.each(wordsIn(PLAIN))('%s is not executed later', (name) => {
  expect(executorOf(`/home/ada/project/${name}`)).toBeUndefined()
})
