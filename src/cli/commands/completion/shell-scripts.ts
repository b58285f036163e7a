/** The completion scripts of the shells. They ask `parley` for candidates, and complete files if it has none. */

/** Bash takes `openai:small` for three words, so that the line is read again, and only what follows the colon is put in. */
const bash = `# parley: completion for bash. Put this into ~/.bashrc:  eval "$(parley completion bash)"
_parley() {
  local -a words
  local typed= line before="\${COMP_LINE:0:COMP_POINT}"
  read -a words <<< "$before"
  [[ $before == *[[:space:]] ]] && words+=("")
  typed=\${words[\${#words[@]}-1]}
  COMPREPLY=()
  while IFS= read -r line; do
    line=\${line%%$'\\t'*}
    [[ $COMP_WORDBREAKS == *:* ]] && line=\${line#"\${typed%"\${typed##*:}"}"}
    COMPREPLY+=("$line")
  done < <("\${words[0]}" completion --words -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -o bashdefault -F _parley parley
`

/** As a file of `fpath` the script is the function itself when a user presses Tab for the first time. */
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
if [[ \${funcstack[1]} == _parley ]]; then
  _parley "$@"
else
  compdef _parley parley
fi
`

const fish = `# parley: completion for fish. Save it:  parley completion fish > ~/.config/fish/completions/parley.fish
function __parley_words
    set -l words (commandline --tokenize --current-process --cut-at-cursor)
    set -l typed (commandline --current-token --cut-at-cursor)
    set -l found (parley completion --words -- $words[2..-1] "$typed" 2>/dev/null)
    if set -q found[1]
        printf '%s\\n' $found
    else
        __fish_complete_path "$typed"
    end
end
complete --command parley --no-files --keep-order --arguments '(__parley_words)'
`

export const SHELL_SCRIPTS: Readonly<Record<string, string>> = { bash, zsh, fish }
