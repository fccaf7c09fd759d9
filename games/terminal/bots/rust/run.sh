#!/bin/sh
own=$(dirname "$0")
if [ ! -x "$own/target/release/terminal-bot" ]; then
    echo "build it first: cd $own && cargo build --release --target-dir target" >&2
    exit 1
fi
exec "$own/target/release/terminal-bot"
