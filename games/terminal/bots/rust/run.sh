#!/bin/sh
own=$(dirname "$0")
if [ ! -x "$own/algo" ]; then
    echo "compile it first: cd $own && sh build.sh" >&2
    exit 1
fi
exec "$own/algo"
