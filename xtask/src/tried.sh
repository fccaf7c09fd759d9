# What somebody does who has nothing but the archive: unpacks, installs, makes a bot, plays, runs a contest, takes all of it away. Run by
# `cargo xtask try-out` in a root of its own, as an ordinary user, with no network but loopback. Prints `ok STEP` or `FAILED STEP`, and ends
# with the first that failed.
#
# Arguments: the archive, the folder of a bot that runs here, `agon new`'s language for it or `-` where there is none.
set -u
archive=$1 bot=$2 language=$3
cd "$HOME" || exit 1

# step NAME COMMAND...: what it prints is kept, and shown if it fails.
step() {
    name=$1
    shift
    if "$@" >"log-$name" 2>&1; then
        echo "ok $name"
    else
        echo "FAILED $name (exit code $?): $*"
        tail -n 25 "log-$name"
        kill $background 2>/dev/null
        exit 1
    fi
}
background=''
# until_said FILE TEXT: waits at most two minutes until the file has it.
until_said() {
    tries=0
    until grep -q "$2" "$1" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -le 120 ] || return 1
        sleep 1
    done
}
busybox() { /try/busybox "$@"; }
# page URL: is it a page? By nc: whatever looks up names, if only that of a port, needs glibc's files, which are not there.
page() {
    rest=${1#http://}
    host=${rest%%/*}
    printf 'GET /%s HTTP/1.0\r\nHost: %s\r\n\r\n' "${rest#*/}" "$host" |
        busybox nc -w 20 "${host%:*}" "${host#*:}" >page.out
    grep -q '^HTTP/1.[01] 200' page.out && grep -qi '<!doctype html' page.out
}

unpack() { tar xzf "$archive" && mv agon-* unpacked; }
step unpack unpack
step install ./unpacked/install.sh
PATH=$HOME/.local/bin:$PATH
export PATH AGON_NO_BROWSER=1
step version agon --version
agon doctor >log-doctor 2>&1
grep 'level' log-doctor | head -n 3

made() {
    if [ "$language" = - ]; then
        # A starter is made all the same; what plays is the bot that was brought.
        agon new cultist-wars python starter && cp -r "$bot" my-bot
    else
        agon new cultist-wars "$language" my-bot
    fi
}
step new made
step play agon play cultist-wars my-bot builtin:greedy --seed 7 --time-scale 20 --fail-on-fault --replay match.replay
step play-inside agon play cultist-wars my-bot builtin:greedy --seed 7 --time-scale 20 --fail-on-fault --sandbox stranger --no-replay
step replay-verify agon replay verify match.replay
step check agon check cultist-wars my-bot --time-scale 20
sprt() {
    agon sprt cultist-wars my-bot builtin:idle -n 8 --time-scale 20 -j 1
    # The answer is the exit code: better, or undecided after so few.
    case $? in 0 | 12 | 13) ;; *) return 1 ;; esac
}
step sprt sprt

watch() {
    agon watch match.replay --no-open >watch.out 2>&1 &
    background=$!
    until_said watch.out 'http://' || return 1
    page "$(grep -o 'http://[^ ]*' watch.out | head -n 1)"
    found=$?
    kill $background
    wait $background 2>/dev/null
    background=''
    return $found
}
step watch watch

# The contest is founded as agon says: where it names a setting for the level of this machine, with that.
serve() {
    agon serve cup --new cultist-wars --port 8080 -j 0 $1 >serve.out 2>&1 &
    background=$!
    until_said serve.out 'http://127' && return 0
    kill $background 2>/dev/null
    return 1
}
founded() {
    serve '' && return 0
    with=$(grep -o -e '--level [A-D]' serve.out | head -n 1)
    echo "agon says:"
    cat serve.out
    [ -n "$with" ] || return 1
    rm -rf cup
    serve "$with"
}
step serve founded
step site page http://127.0.0.1:8080/
step add agon serve add cup my-bot --team Newcomers
joined() {
    agon serve worker cup machine --out worker.token || return 1
    agon work http://127.0.0.1:8080 --token-file worker.token -j 1 >work.out 2>&1 &
    background="$background $!"
}
step work joined
ranked() {
    tries=0
    # Ranked: it has played, and the table has its place.
    until agon serve status cup --json >status.json 2>/dev/null && busybox tr -d '\n ' <status.json | grep -q "$wanted"; do
        tries=$((tries + 1))
        [ $tries -le 300 ] || { cat status.json; tail -n 20 work.out serve.out; return 1; }
        sleep 2
    done
}
wanted='"name":"Newcomers"[^{}]*"rank":[0-9]'
step ranked ranked
step pause agon serve pause cup
step export agon serve export cup cup.agon
step fsck agon serve fsck cup
kill -INT $background
for each in $background; do wait "$each" 2>/dev/null; done
background=''
step verify agon verify cup.agon
step manual grep -q 'AGON\\-PLAY' .local/share/man/man1/agon-play.1

gone() {
    .local/share/agon/uninstall.sh >uninstall.out || return 1
    cat uninstall.out
    # The lines that it names for what agon made beside contests.
    sed -n 's/^So do [^:]*: *//p' uninstall.out >lines
    . ./lines
    [ ! -e .local ] && [ ! -e .cache/agon ] && [ ! -e .config/agon ]
}
step uninstall gone
left=$(ls -A | grep -v -e '^log-' -e '^cup' -e '\.out$' -e '^my-bot$' -e '^starter$' -e '^unpacked$' -e '^match.replay$' -e '^agon-series$' -e '^agon-replays$' \
    -e '^status.json$' -e '^worker.token$' -e '^lines$' -e '^\.cache$' -e '^\.config$' -e '^\.bash' -e '^\.profile$')
if [ -n "$left" ]; then echo "FAILED left behind: $left"; exit 1; fi
echo "ok nothing left"
