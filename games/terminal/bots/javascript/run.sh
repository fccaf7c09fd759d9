#!/bin/sh
exec node "$(dirname "$0")/strategy.js"
