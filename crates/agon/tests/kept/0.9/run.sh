#!/bin/sh
i=0; while [ $i -lt 9 ]; do read -r line; i=$((i+1)); done
while read -r n; do
    while [ $n -gt 0 ]; do read -r line; n=$((n-1)); done
    echo WAIT
done
