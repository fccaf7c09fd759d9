#!/bin/sh
own=$(dirname "$0")
if [ ! -x "$own/algo" ]; then
    echo "compile it first: agon build $own" >&2
    exit 1
fi
exec "$own/algo"
