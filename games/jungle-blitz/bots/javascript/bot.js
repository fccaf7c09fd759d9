// Plays Jungle Blitz over WebSocket. What it decides is in brain.js.
//
// `node bot.js --lines` speaks the same messages over standard input and output, one per line: with a pipe instead of a
// socket there is less between you and a debugger.

import { createInterface } from "node:readline";

import { decide } from "./brain.js";

const { AGON_ADDRESS: address = "ws://127.0.0.1:8765", TOKEN: token } = process.env;

// The first message. A server that knows its teams gives each a token.
const register = JSON.stringify({ type: "REGISTER", ...(token ? { token } : { teamName: "JavaScript raider" }) });

// The answer to a TICK message.
function answer(message) {
  const tick = JSON.parse(message);
  return JSON.stringify({ type: "COMMAND", tick: tick.tick, actions: decide(tick) });
}

if (process.argv.includes("--lines")) {
  console.log(register);
  createInterface({ input: process.stdin }).on("line", (message) => console.log(answer(message)));
} else if (!globalThis.WebSocket) {
  console.error("this Node has no WebSocket yet: take Node 22, or start it with `node --experimental-websocket bot.js`");
  process.exit(1);
} else {
  const socket = new WebSocket(address);
  socket.addEventListener("open", () => socket.send(register));
  socket.addEventListener("message", ({ data }) => socket.send(answer(data)));
  // The server closes the connection when the match is over.
  socket.addEventListener("close", () => process.exit(0));
  socket.addEventListener("error", () => {
    console.error(`no connection to ${address}`);
    process.exit(1);
  });
}
