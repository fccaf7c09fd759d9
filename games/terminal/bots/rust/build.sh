#!/bin/sh
# Compiles, and puts the program where run.sh and `agon pack` find it.
cargo build --release --target-dir target && cp target/release/algo algo
