// The conversation: each line on standard input is what you see, each line on standard output is your list of moves, both as
// JSON. What it decides is in strategy.js.
"use strict";

/**
 * @typedef {object} Unit
 * @property {number} id
 * @property {"worker" | "melee"} type
 * @property {number} x
 * @property {number} y
 * @property {number} [hp] under the rules of the document
 * @property {number} [mining_status] half-turns until it has mined; 0 when it does not
 * @property {number} [duplication_status] likewise
 * @property {number} [stun_status] likewise, in the rules of 2021
 */
/**
 * @typedef {object} State
 * @property {("X" | "R" | " ")[][]} map map[y][x]: wall, resource, ground
 * @property {Unit[]} my_units
 * @property {Unit[]} their_units those you see
 * @property {number} my_resources
 * @property {number} turns_left
 */
/** A unit's id and what it does: `[3, ["UP"]]`, `[3, ["ATTACK", "LEFT"]]`, `[3, ["MINE"]]`. @typedef {[number, string[]]} Move */

const { createInterface } = require("node:readline");
const { decide } = require("./strategy.js");

createInterface({ input: process.stdin }).on("line", (line) => {
  /** @type {State} */
  const state = JSON.parse(line);
  process.stdout.write(JSON.stringify(decide(state)) + "\n");
});
