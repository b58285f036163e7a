/** What each shell runs when a user presses Tab: it asks `parley` itself, and completes files where that knows nothing. */

const bash = `# parley: completion for bash. Put this into ~/.bashrc:  eval "$(parley completion bash)"
_parley() {
  local typed=\${COMP_WORDS[COMP_CWORD]} line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <("\${COMP_WORDS[0]}" completion --words -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$typed" 2>/dev/null)
}
complete -o default -o bashdefault -F _parley parley
`

const zsh = `#compdef parley
# parley: completion for zsh. Put this into ~/.zshrc, behind compinit:  eval "$(parley completion zsh)"
_parley() {
  local -a found
  local line value
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    found+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
  done < <("\${words[1]}" completion --words -- "\${(@)words[2,CURRENT-1]}" "\${words[CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then
    _describe -V parley found
  else
    _files
  fi
}
compdef _parley parley
`

const fish = `# parley: completion for fish. Save it:  parley completion fish > ~/.config/fish/completions/parley.fish
function __parley_words
    set -l words (commandline --tokenize --current-process --cut-at-cursor)
    parley completion --words -- $words[2..-1] (commandline --current-token --cut-at-cursor) 2>/dev/null
end
complete --command parley --arguments '(__parley_words)'
`

export const SHELL_SCRIPTS: Readonly<Record<string, string>> = { bash, zsh, fish }
