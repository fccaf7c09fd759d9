// Plays Jungle Blitz over WebSocket, with Node's own WebSocket (Node 22) or the package `ws`.

import { decide } from "./brain.js";

const Socket = globalThis.WebSocket ?? (await import("ws")).WebSocket;
const socket = new Socket(process.env.AGON_ADDRESS ?? "ws://127.0.0.1:8765");
const token = process.env.TOKEN;

socket.addEventListener("open", () => {
  const who = token ? { token } : { teamName: "JavaScript raider" };
  socket.send(JSON.stringify({ type: "REGISTER", ...who }));
});

socket.addEventListener("message", ({ data }) => {
  const tick = JSON.parse(data);
  socket.send(JSON.stringify({ type: "COMMAND", tick: tick.tick, actions: decide(tick) }));
});

// The server closes the connection when the match is over.
socket.addEventListener("close", () => process.exit(0));
