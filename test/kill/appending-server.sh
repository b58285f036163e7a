#!/bin/sh
# An MCP server over stdio whose one tool does something that can be counted: `append` writes a line to the file $1, then
# answers. $2 names this start of it. In sh, because hundreds of runs start hundreds of them.

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
      printf '{"label":%s,"life":"%s"}\n' "$label" "$2" >>"$1"
      sleep 0.005
      answer '"result":{"content":[{"type":"text","text":'"$label"'}]}' ;;
    *) answer '"error":{"code":-32601,"message":"Method not found"}' ;;
  esac
done
