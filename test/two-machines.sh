#!/bin/sh
# A server in one network namespace and its users in another, with nothing but a cable between: a machine is paired by its
# link, an editor's relay works over wss, a script has a token, and a share link ends while it is read. Prints what was
# typed and what came. Needs root, ip, openssl and curl; run it as `sh test/two-machines.sh` after `npm run build`.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
mkdir -p "$work/studio" "$work/laptop" "$work/app"

leave() {
  # The server and all others end with their namespaces' last process.
  for name in parley-studio parley-laptop; do
    ip netns pids "$name" 2>/dev/null | xargs -r kill 2>/dev/null || true
    ip netns del "$name" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap leave EXIT INT TERM

say() {
  printf '\n## %s\n' "$1"
}

# shown MACHINE COMMAND…: prints the command as a user types it, and what it says. Secrets of links and tokens are cut.
shown() {
  machine=$1
  shift
  printf '\n%s$ %s\n' "$machine" "$*" | hidden
  on "$machine" "$@" 2>&1 | hidden
}

hidden() {
  sed -E "s|$work|/home|g; s/(#(pair|share)=)[A-Za-z0-9_-]+/\1…/g"
}

on() {
  machine=$1
  shift
  program=$1
  shift
  [ "$program" = parley ] && program="node $here/bin/parley.mjs"
  # shellcheck disable=SC2086
  ip netns exec "parley-$machine" env -i PATH="$PATH" HOME="$work/$machine" XDG_CONFIG_HOME="$work/$machine/config" \
    PARLEY_HOME="$work/$machine/state" PARLEY_AGENT="script:$work/agent.jsonl" NO_COLOR=1 $program "$@"
}

# value NAME: the text of this key in the JSON on standard input.
value() {
  node -e 'const text = require("fs").readFileSync(0, "utf8"); console.log(JSON.parse(text.split("\n")[0])[process.argv[1]])' "$1"
}

for name in studio laptop; do
  ip netns add "parley-$name"
  ip -n "parley-$name" link set lo up
done
ip link add studio netns parley-studio type veth peer name laptop netns parley-laptop
ip -n parley-studio addr add 10.97.0.1/24 dev studio
ip -n parley-laptop addr add 10.97.0.2/24 dev laptop
ip -n parley-studio link set studio up
ip -n parley-laptop link set laptop up

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=studio \
  -addext subjectAltName=IP:10.97.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
chmod 600 "$work/key.pem"
cat >"$work/agent.jsonl" <<'END'
{"chunk":"From the studio: "}
{"chunk":"word {n} ","times":5,"everyMs":20}
END

on studio parley serve --listen 10.97.0.1:7443 --tls-cert "$work/cert.pem" --tls-key "$work/key.pem" >"$work/serve.log" 2>&1 &
until grep -q listens "$work/serve.log"; do sleep 0.2; done

say 'Two machines: the studio has the server, the laptop has nothing'
shown laptop ip -brief address
hidden <"$work/serve.log"
shown laptop curl -s --cacert "$work/cert.pem" https://10.97.0.1:7443/healthz
printf '\n'

say 'Pairing by link'
link=$(on studio parley pair --role admin --json | tee "$work/pair.json" | value link)
hidden <"$work/pair.json"
shown laptop parley login "$link" --name studio --ca "$work/cert.pem"
shown studio parley devices
printf '\nThe same link once more:\n'
shown laptop parley login "$link" --name again --ca "$work/cert.pem" || true

say 'Commands and an editor on the laptop, over wss'
shown laptop parley --server studio run --cwd "$work/app" 'What do you say?'
shown laptop parley --server studio ls
printf '\nlaptop$ parley acp --server studio\n'
{
  printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}'
  sleep 3
  printf '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"%s","mcpServers":[]}}\n' "$work/app"
  until grep -q '"id":1,' "$work/editor.log"; do sleep 0.2; done
  id=$(sed -n 's/.*"sessionId":"\([^"]*\)".*/\1/p' "$work/editor.log" | head -n 1)
  printf '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"%s","prompt":[{"type":"text","text":"And you?"}]}}\n' "$id"
  until grep -q '"id":2,' "$work/editor.log"; do sleep 0.2; done
} | on laptop parley acp --server studio >"$work/editor.log" 2>&1
cut -c1-200 "$work/editor.log" | hidden

say 'A script with a token'
token=$(on studio parley token add nightly --role read --json | value token)
printf 'laptop$ curl -H "Authorization: Bearer …" https://10.97.0.1:7443/acp\n'
hello='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}'
post() {
  on laptop curl -s -o "$work/answer" -D "$work/head" --cacert "$work/cert.pem" -H "Authorization: Bearer $1" \
    -H 'Content-Type: application/json' -d "$hello" https://10.97.0.1:7443/acp
  head -n 1 "$work/head" | tr -d '\r'
  cut -c1-200 "$work/answer"
}
post "$token"
shown studio parley token rm nightly
printf '\nThe same token once more:\n'
post "$token"

say 'A share link that ends'
session=$(on laptop parley --server studio ls --json | value sessionId)
share=$(on studio parley share "$session" --for 1h --json | tee "$work/share.json" | value link)
hidden <"$work/share.json"
guest=$(on laptop curl -s --cacert "$work/cert.pem" -H 'Content-Type: application/json' \
  -d "{\"code\":\"${share##*#share=}\"}" https://10.97.0.1:7443/pair | value token)
printf 'laptop$ curl … https://10.97.0.1:7443/acp   # as a guest, reads events until the link ends\n'
post "$guest" | head -n 1
connection=$(sed -n 's/^acp-connection-id: \([^\r]*\).*/\1/Ip' "$work/head" | tr -d '\r')
on laptop curl -sN --cacert "$work/cert.pem" -H "Authorization: Bearer $guest" -H "Acp-Connection-Id: $connection" \
  -H 'Accept: text/event-stream' https://10.97.0.1:7443/acp >"$work/events" 2>&1 &
reader=$!
sleep 1
shown studio parley share rm "$(value id <"$work/share.json")"
began=$(date +%s%N)
wait "$reader" || true
printf 'the stream ended %s ms after that; its last line:\n' "$((($(date +%s%N) - began) / 1000000))"
grep -v '^$' "$work/events" | tail -n 1
printf 'the guest once more:\n'
post "$guest"
