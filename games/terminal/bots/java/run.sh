#!/bin/sh
own=$(dirname "$0")
if [ ! -f "$own/algo.jar" ]; then
    echo "compile it first: cd $own && sh build.sh" >&2
    exit 1
fi
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -jar "$own/algo.jar"
