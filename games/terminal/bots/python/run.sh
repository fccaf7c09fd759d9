#!/bin/sh
exec "${PYTHON_CMD:-python3}" -u "$(dirname "$0")/strategy.py"
