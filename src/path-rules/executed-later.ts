/**
 * Files that another program executes later without a user's doing: a hook, a start-up file, a task that an editor runs
 * when it opens a folder. The mode accept-edits does not cover them. Pure data.
 *
 * Left out on purpose: files that a user runs by name, such as `package.json`, a Makefile, tests and build configuration,
 * and files that run on another machine after a push, such as workflows.
 */
import { catchesPath } from './path-rules.ts'

/** Patterns as in rules of permission, at any depth: a home directory may be the root set, or lie in it. */
interface Row {
  readonly by: string
  readonly files: readonly string[]
}

const EXECUTED_LATER: readonly Row[] = [
  {
    by: 'git',
    files: ['.husky', '.githooks', '.git-hooks', '.gitconfig', '**/.config/git', '**/.config/hooks', '.gitmodules'],
  },
  {
    by: 'a manager of git hooks',
    files: [
      '.pre-commit-config.yaml',
      'lefthook*.y*ml',
      '.lefthook*',
      '.overcommit.yml',
      '.lintstagedrc*',
      '.simple-git-hooks*',
    ],
  },
  {
    by: 'another version control system',
    files: ['.hg', '.hgrc', '**/.config/hg', '.jj', '**/.config/jj', '.bzr', '.svn'],
  },
  { by: 'ssh', files: ['.ssh'] },
  {
    by: 'a shell when it starts or ends',
    files: [
      '.bashrc',
      '.bash_*',
      '.profile',
      '.zshrc',
      '.zshenv',
      '.zprofile',
      '.zlogin',
      '.zlogout',
      '.zsh',
      '.oh-my-zsh',
      '.kshrc',
      '.mkshrc',
      '.cshrc',
      '.tcshrc',
      '.login',
      '.logout',
      '.inputrc',
      '**/.config/fish',
      '**/.config/nushell',
      '**/etc/profile*',
      '**/etc/bash*',
      '**/etc/zsh*',
    ],
  },
  {
    by: 'the desktop when a session starts',
    files: [
      '**/.config/autostart*',
      '**/.config/plasma-workspace',
      '**/.config/environment.d',
      '**/.local/share/applications',
      '**/.local/share/dbus-1',
      '**/Library/LaunchAgents',
      '.pam_environment',
      '.xinitrc',
      '.xsession*',
      '.xprofile',
      '.Xclients',
      '.Xresources',
      '**/.config/i3',
      '**/.config/sway',
      '**/.config/hypr',
    ],
  },
  {
    by: 'systemd, cron or another service',
    files: [
      '**/systemd/user',
      '**/systemd/system',
      '**/cron.d',
      '**/cron.daily',
      '**/cron.hourly',
      '**/cron.weekly',
      '**/cron.monthly',
      '**/spool/cron',
      'crontab',
      '**/etc/init.d',
      '**/etc/rc.local',
      '**/etc/ld.so.preload',
      '**/etc/sudoers*',
      '**/etc/pam.d',
      '**/udev/rules.d',
      '.forward',
      '.procmailrc',
      '.mailcap',
    ],
  },
  {
    by: 'an editor when it opens this folder or starts',
    files: [
      '.vscode',
      '**/.config/Code',
      '.idea',
      '.zed',
      '.fleet',
      '.devcontainer*',
      '.gitpod.yml',
      '.exrc',
      '.vimrc',
      '.vim',
      '.nvimrc',
      '.nvim.lua',
      '**/.config/nvim',
      '.emacs',
      '.emacs.d',
      '.dir-locals*.el',
      '*.code-workspace',
      '.sublime-project',
    ],
  },
  {
    by: 'another agent',
    files: [
      '.mcp.json',
      '.claude',
      '.claude.json',
      '.cursor',
      '.codex',
      '.gemini',
      '.opencode*',
      'opencode.json*',
      '.windsurf',
      '.continue',
    ],
  },
  {
    by: 'direnv, mise or asdf when a shell enters this folder',
    files: ['.envrc', '**/.config/direnv', '.mise*.toml', 'mise*.toml', '.tool-versions', '.asdfrc'],
  },
  {
    by: 'a package manager or a toolchain, whatever it is asked to do',
    files: [
      '.npmrc',
      '.yarnrc*',
      '**/.yarn/releases',
      '**/.yarn/plugins',
      '.pnpmfile.cjs',
      'bunfig.toml',
      '**/.cargo/config*',
      '**/.cargo/env',
      '**/.cargo/bin',
      '**/.config/pip',
      '.pip',
      '.gemrc',
      '**/.bundle/config',
      '.condarc',
      'sitecustomize.py',
      'usercustomize.py',
      '*.pth',
      '**/.local/bin',
      '.nvm',
      '.pyenv',
      '.rbenv',
    ],
  },
  {
    by: 'a program when it starts',
    files: [
      '.gdbinit',
      '.lldbinit',
      '.irbrc',
      '.pryrc',
      '.Rprofile',
      '.ipython',
      '.jupyter',
      '.pythonrc*',
      '.psqlrc',
      '.sqliterc',
      '.tmux*.conf',
      '**/.config/tmux',
      '.screenrc',
      '.wgetrc',
      '**/.docker/config.json',
      '.kube',
      '**/.aws/config',
      '.gnupg',
      '.lesskey',
    ],
  },
]

/** The program that executes this file later; undefined for other files. The path is absolute and without links. */
export function executorOf(path: string): string | undefined {
  return EXECUTED_LATER.find(({ files }) => files.some((pattern) => catchesPath(pattern, [path], ['/'])))?.by
}
