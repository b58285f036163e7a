#!/bin/sh
# An MCP server over stdio whose one tool does something that can be counted: `append` writes a line to the file $1, then
# answers. $2 names this start of it; with $3, what it does is dated and signed by who started it, and a call may go on for so many
# `ticks` of 0.1 s. In sh, because hundreds of runs start hundreds of them.

answer() {
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"
}

# What follows the key $1 in the line: a number, or a text with its quotes.
field() {
  value=${line#*\""$1"\":}
  printf '%s' "${value%%[,\}]*}"
}

tool='{"name":"append","description":"Appends a line","inputSchema":{"type":"object","properties":{"label":{"type":"string"}},"required":["label"]}}'

while IFS= read -r line; do
  case $line in *'"id":'*) id=$(field id) ;; *) continue ;; esac
  case $line in
    *'"method":"initialize"'*)
      answer '"result":{"protocolVersion":'"$(field protocolVersion)"',"capabilities":{"tools":{}},"serverInfo":{"name":"appending","version":"1"}}' ;;
    *'"method":"tools/list"'*) answer '"result":{"tools":['"$tool"']}' ;;
    *'"method":"tools/call"'*)
      label=$(field label)
      if [ -n "$3" ]; then
        printf '{"label":%s,"life":"%s","parent":%s,"at":%s}\n' "$label" "$2" "$PPID" "$(date +%s%3N)" >>"$1"
        case $line in *'"ticks":'*)
          tick=$(field ticks)
          while [ "$tick" -gt 0 ]; do
            sleep 0.1
            printf '{"parent":%s,"at":%s}\n' "$PPID" "$(date +%s%3N)" >>"$1.ticks"
            tick=$((tick - 1))
          done ;;
        esac
      else
        printf '{"label":%s,"life":"%s"}\n' "$label" "$2" >>"$1"
      fi
      sleep 0.005
      answer '"result":{"content":[{"type":"text","text":'"$label"'}]}' ;;
    *) answer '"error":{"code":-32601,"message":"Method not found"}' ;;
  esac
done
