#!/bin/sh
# Compiles, and puts the program into one file, which `agon pin` and `agon pack` take along.
javac -d target Bot.java && jar --create --file bot.jar --main-class Bot -C target .
