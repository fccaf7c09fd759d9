#!/bin/sh
own=$(dirname "$0")
if [ ! -f "$own/algo.jar" ]; then
    echo "compile it first: agon build $own" >&2
    exit 1
fi
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -jar "$own/algo.jar"
