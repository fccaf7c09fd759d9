import os, sys

read = sys.stdin.readline
me = read()
width, height = map(int, read().split())
for _ in range(height):
    read()
t = 0
while True:
    line = read()
    if not line:
        break
    for _ in range(int(line)):
        read()
    # here
    print("WAIT", flush=True)
    t += 1
