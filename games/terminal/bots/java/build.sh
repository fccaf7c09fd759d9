#!/bin/sh
# Compiles, and puts the program where run.sh and `agon pack` find it.
javac -d target -sourcepath src src/Strategy.java && jar --create --file algo.jar --main-class Strategy -C target .
