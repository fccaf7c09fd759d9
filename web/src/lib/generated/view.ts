// Made from the types of crates/agon-view/src/line.rs, ask.rs, play.rs and outlook.rs by its test; UPDATE_TYPES=1 makes it anew.

/** The match itself. */
export type Head = {
  /** The version of this format. */
  view: number,
  /** The program that recorded it. */
  program: string,
  /** The game's name. */
  game: string,
  /** The game's title. */
  title: string,
  /** What the game calls a step: `turn`. */
  stepWord: string,
  /** Whether one seat decides at a time. */
  alternating: boolean,
  /** The preset and its changes. */
  rulesName: string,
  /** The version of the rules. */
  rulesVersion: number,
  /** The rules themselves. */
  rules: any,
  /** The map's name. */
  map: string,
  /** The seed; a string, because it has more digits than a JavaScript number. */
  seed: string,
  /** The clock the bots had, in words. */
  clock: string,
  /** When the match began, in seconds since 1970. */
  started: number,
  /** Who sat where. */
  seats: Array<SeatLine>,
  /** The number of steps that can be shown; none while it is being played. */
  steps: number | null,
  /** The number of frames of each step; empty if steps have none, or while it is being played. */
  frames: Array<number>,
  /** Whether it shows what belongs to one seat alone. */
  private: boolean,
  /** The command that plays it again. */
  again: string | null,
  /** Who must answer first. */
  deciding: Array<number>,
  /** Where it begins, in the game's words. */
  moment: string,
  /** The scene before the first step. */
  scene: unknown,
  /** Each seat's chance of finishing first, at the start; none if the game does not say. */
  advantage?: Array<number>,
  /** A sentence, if the match was recorded under another version of the rules: what is shown is what this program makes of its answers, as far as that agrees with the recording. */
  otherRules?: string,
  /** How it ended; none while it is being played. */
  end: End | null,
};

/** Who sat in a seat. */
export type SeatLine = {
  /** A short name. */
  label: string,
  /** The bot as the user named it. */
  bot?: string,
  /** The name under which it registered. */
  registered?: string,
};

/** One step. */
export type Line = {
  /** Its number, from 1. */
  step: number,
  /** Where the match was, in the game's words. */
  moment: string,
  /** What was answered, by seat. */
  answers: Array<AnswerLine>,
  /** Orders that the rules did not allow. */
  rejected?: Array<RejectionLine>,
  /** What the bots did wrong as programs. */
  faults?: Array<FaultLine>,
  /** What happened, as the game writes its events. */
  events: { event: string; [key: string]: any }[],
  /** The frames within the step, as the game writes them. */
  frames?: unknown[],
  /** The scene after it, as the difference from the head's scene ([`crate::delta`]); none if nothing differs. */
  scene?: unknown,
  /** Who must answer next. */
  deciding: Array<number>,
  /** Each seat's chance of finishing first, after it ([`agon_game::advantage()`]); none if the game does not say, or if the viewing seat may not know the whole board. */
  advantage?: Array<number>,
  /** The names under which the bots registered, by seat: in a match being played, whose head was sent earlier. */
  registered?: Array<string | null>,
};

/** The answer of a seat. */
export type AnswerLine = {
  /** The seat, from 1. */
  seat: number,
  /** The order in its canonical form; none if nothing usable came. */
  text?: string,
  /** Why nothing usable came. */
  missing?: Missing,
  /** Wall time in microseconds. */
  wall?: number,
  /** CPU time in microseconds. */
  cpu?: number,
  /** The limit in milliseconds. */
  limit?: number,
  /** The answer as sent, if it differs. */
  raw?: string,
  /** What the bot wrote on standard error. */
  stderr?: string,
};

/** Why there is no order. */
export type Missing = "timed out" | "gone" | "never started" | { "malformed": string
};

/** An order that the rules did not allow. */
export type RejectionLine = {
  /** The seat, from 1. */
  seat: number,
  /** The entry of its list, from 0. */
  order: number,
  /** The rule behind it. */
  rule: string,
  /** Why, as a sentence. */
  why: string,
};

/** What a bot did wrong as a program. */
export type FaultLine = {
  /** The seat, from 1. */
  seat: number,
  /** Its kind. */
  kind: string,
  /** The rule, if there is one. */
  rule?: string,
  /** What happened, for the bot's author. */
  message: string,
};

/** How a match ended, and the state of its recording. */
export type End = {
  /** The state of the recording. */
  end: EndWord,
  /** Why, if it is void or altered; where, if it is cut. */
  why: string | null,
  /** How the match ended, if known. */
  outcome: { scores: number[]; ranks: number[]; reason: string } | null,
  /** Where the match was, in the game's words. */
  moment: string,
};

/** The state of a recording. */
export type EndWord = "whole" | "cut" | "void" | "altered";

/** A question of the viewer. Steps and seats count from 1. */
export type Ask = { "open": {
  /** Whether what belongs to one seat alone is shown. */
  private: boolean, } } | { "lines": {
  /** The replay. */
  id: number,
  /** The first step. */
  from: number,
  /** The last step. */
  to: number, } } | { "message": {
  /** The replay. */
  id: number,
  /** The step. */
  step: number,
  /** The seat. */
  seat: number, } } | { "section": {
  /** The replay. */
  id: number,
  /** The step. */
  step: number,
  /** The rule it is about; empty for that of the first order it rejected. */
  rule: string, } } | { "refine": {
  /** The replay. */
  id: number,
  /** The step. */
  step: number,
  /** How many at most. */
  pairs: number,
  /** Whether they are of any step, where they tell most, or only of this one. */
  all: boolean,
  /** The bot that plays on, as after `builtin:`; none for the game's judge. Another one than before begins anew. */
  policy: string | null, } } | { "wish": {
  /** The replay. */
  id: number,
  /** The step. */
  step: number,
  /** Whose order. */
  seat: number,
  /** The order. */
  text: string, } } | { "written": {
  /** The replay. */
  id: number,
  /** The step. */
  step: number,
  /** Whose order. */
  seat: number, } } | { "learn": {
  /** The replay. */
  id: number,
  /** Whose match. */
  seat: number,
  /** The one step to look at; none for all. */
  step: number | null,
  /** About how many futures may be played now. */
  futures: number, } } | { "judge": {
  /** The replay. */
  id: number,
  /** The bot that plays on. */
  policy: string,
  /** The step. */
  step: number,
  /** Whose order. */
  seat: number,
  /** The order. */
  text: string,
  /** How many futures may be played now. */
  futures: number, } } | { "compose": {
  /** The replay. */
  id: number,
  /** The step. */
  step: number,
  /** Whose choices. */
  seat: number,
  /** A list of choices, as the game writes them. */
  chosen: unknown[], } } | { "begin": {
  /** Which match. */
  wanted: WantedMatch, } } | { "resume": {
  /** The replay. */
  id: number,
  /** How many of its steps are kept. */
  steps: number,
  /** Who plays on. */
  seats: Array<Sitter>, } } | "sit" | { "prospect": {
  /** The match. */
  id: number,
  /** Whose choices. */
  seat: number,
  /** A list of choices, as the game writes them. */
  chosen: unknown[], } } | { "answer": {
  /** The match. */
  id: number,
  /** Whose. */
  seat: number,
  /** A list of choices, as the game writes them. */
  chosen: unknown[], } } | { "hint": {
  /** The match. */
  id: number,
  /** For whom. */
  seat: number,
  /** The bot. */
  bot: string, } } | { "lend": {
  /** The match. */
  id: number,
  /** For whom. */
  seat: number,
  /** The bot. */
  bot: string,
  /** How often. */
  times: number, } } | { "question": {
  /** The match. */
  id: number,
  /** Whose. */
  seat: number, } } | { "say": {
  /** The match. */
  id: number,
  /** Whose. */
  seat: number,
  /** The message. */
  message: string, } } | { "go": {
  /** The match. */
  id: number,
  /** How many steps are known: a seat is told what was played since, and for a while waits for it. */
  steps: number, } } | { "back": {
  /** The match. */
  id: number, } } | { "replay": {
  /** The match. */
  id: number, } } | { "close": {
  /** Which. */
  id: number, }
};

/** What is returned: JSON, or bytes as they are. */
export type Reply = Opened | Outlook | LessonSoFar | WinChance | Begun | Turn | unknown[];

/** An opened replay. */
export type Opened = {
  /** The id to ask about it by. */
  id: number,
  /** What it is. */
  head: Head,
};

/** A match by hand that has begun. */
export type Begun = {
  /** The id to ask about it by. */
  id: number,
  /** What it is. */
  head: Head,
  /** What happened so far. */
  turn: Turn,
};

/** Why there is nothing to return. */
export type AskRefusal = {
  /** What is wrong and what to do. */
  error: string,
  /** Whether the file is not one of our replays: the page then tries to read it itself. */
  foreign: boolean,
  /** Whether the object asked for has been closed: it must be opened again then. */
  gone: boolean,
};

/** Who sits in a seat. */
export type Sitter = {
  /** The built-in bot; none for a person. */
  builtin: string | null,
  /** Its options, in order. */
  options: Array<[string, string]>,
};

/** A match that somebody wants to play. */
export type WantedMatch = {
  /** The game. */
  game: string,
  /** A preset; empty for the default. */
  rules: string,
  /** Changes of the rules, in order. */
  sets: Array<[string, string]>,
  /** A map of the game, `generate`, or empty for the default. */
  map: string,
  /** The seed, in digits. */
  seed: string,
  /** Who plays. */
  seats: Array<Sitter>,
};

/** How far a match has come. */
export type Turn = {
  /** The steps played since. */
  lines: Array<Line>,
  /** How many steps were played in all. */
  steps: number,
  /** The seats of people who must choose now, from 1. */
  choosing: Array<number>,
  /** Where the match is, in the game's words. */
  moment: string,
  /** The limit for an answer in milliseconds, as in the rulebook. */
  limit: number,
  /** How it ended; none while it goes on. */
  end: End | null,
};

/** What is known so far. */
export type Outlook = {
  /** The bot that plays on, with its options. */
  policy: string,
  /** Those that could: the game's judge, its quick one, and all others built in. */
  policies: Array<string>,
  /** Whether something is hidden: futures begin in positions drawn from what the seat could know. */
  sampled: boolean,
  /** The total number of pairs of futures played. */
  pairs: number,
  /** Whether more of them would add information. */
  more: boolean,
  /** The number of orders about which something is known, and the number of orders. */
  seen: [number, number],
  /** Each seat's chance of finishing first, after the step. */
  chances: Array<WinChance>,
  /** The orders of the step. */
  orders: Array<Worth>,
  /** The order wished for instead of one of them. */
  wish: Worth | null,
  /** Orders of any step whose effect is beyond noise, in order of play. */
  marks: Array<Worth>,
};

/** A chance, or a difference of chances, from 0 to 1. */
export type WinChance = {
  /** The mean. */
  mean: number,
  /** Its standard error. */
  error: number,
  /** The number of futures. */
  count: number,
};

/** What an order is worth. */
export type Worth = {
  /** The step, from 1. */
  step: number,
  /** Whose order, from 1. */
  seat: number,
  /** What the seat's chance gains by the policy's order in its place; for a wish, what it gains by the wish over the recorded order. */
  gain: WinChance,
  /** Whether that is beyond noise. */
  sure: boolean,
};
