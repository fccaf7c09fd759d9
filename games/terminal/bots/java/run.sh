#!/bin/sh
own=$(dirname "$0")
if [ ! -f "$own/out/Strategy.class" ]; then
    echo "build it first: cd $own && javac -d out src/*.java test/*.java" >&2
    exit 1
fi
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$own/out" Strategy
