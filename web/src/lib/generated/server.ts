// Made from the types of crates/agon-web/src/api.rs by its test; UPDATE_TYPES=1 makes it anew.

/** The content of the start page: `GET /api/start`. */
export type Listing = {
  /** The version of the program. */
  version: string,
  /** The files the user named. */
  named: Array<string>,
  /** The folder of recent matches. */
  folder: string,
  /** The recent matches, the newest first. */
  recent: Array<Recent>,
  /** The recent series, the newest first. */
  series: Array<SeriesHead>,
  /** The games that can be played. */
  games: Array<GameOption>,
};

/** A game, as the form for a new match needs it. */
export type GameOption = {
  /** Its name on the command line. */
  name: string,
  /** Its name in texts. */
  title: string,
  /** What it is about, in a sentence. */
  summary: string,
  /** What a step of its matches is called: `turn`. */
  step: string,
  /** The minimum and maximum number of seats. */
  seats: [number, number],
  /** Its rules presets; the first is the default. */
  presets: Array<Named>,
  /** The built-in maps. */
  maps: Array<GameMap>,
  /** Whether a map can be made from the seed. */
  generates: boolean,
  /** Whether its bots are scripts, which can be written in the page. */
  scripts: boolean,
  /** The built-in bots. */
  builtins: Array<Named>,
};

/** A preset or a built-in bot. */
export type Named = {
  /** Its name. */
  name: string,
  /** What it is, in a few words. */
  about: string,
};

/** A built-in map. */
export type GameMap = {
  /** Its name. */
  name: string,
  /** The minimum and maximum number of seats it is for. */
  seats: [number, number],
};

/** A file in the folder of recent matches. */
export type Recent = RecentMatch | {
  /** The file. */
  name: string,
  /** When it was written, in seconds since 1970. */
  when: number,
  /** Why not. */
  error: string,
};

/** A recent match. */
export type RecentMatch = {
  /** The file. */
  name: string,
  /** When it was written, in seconds since 1970. */
  when: number,
  /** The game's name on the command line. */
  game: string,
  /** The name of the rules. */
  rules: string,
  /** The name of the map. */
  map: string,
  /** The seed, as a string: it has 64 bits. */
  seed: string,
  /** Who played. */
  seats: Array<RecentSeat>,
  /** The number of steps played. */
  steps: number,
  /** Why it ended, in the game's words; null if it has no outcome. */
  reason: string | null,
  /** Why it does not count. */
  void: string | null,
  /** Whether the file stops before the end of the match. */
  cut: boolean,
};

/** A seat of a recent match. */
export type RecentSeat = {
  /** The bot's label. */
  label: string,
  /** Its score; null if the match has no outcome. */
  score: number | null,
  /** Its rank, from 1. */
  rank: number | null,
  /** The number of faults it made as a program. */
  faults: number,
};

/** A series, from the start of its journal. */
export type SeriesHead = {
  /** The journal's file. */
  name: string,
  /** `gauntlet`, `sprt` or `tournament`. */
  kind: string,
  /** The game's name on the command line. */
  game: string,
  /** The game's name in texts. */
  title: string,
  /** The name of the rules. */
  rules: string,
  /** When it began, in seconds since 1970. */
  started: number,
  /** Seats in a match. */
  seats: number,
  /** The labels of the bots; matches refer to them by index. */
  bots: Array<string>,
};

/** A series with its matches: `GET /api/journal`. */
export type SeriesPage = {
  /** How many matches precede the listed ones. */
  leftOut: number,
  /** Whether its last line is incomplete. */
  torn: boolean,
  /** Its course, for a test and for each opponent of a gauntlet. */
  courses: { bots: number[]; elo: [number, number]; bounds: [number, number] | null; llr: [number, number]; points: { games: number; elo: number | null; low: number | null; high: number | null; llr: number | null }[] }[],
  /** Its matches, in the order in which they ended. */
  matches: Array<JournalMatch>,
  /** The journal's file. */
  name: string,
  /** `gauntlet`, `sprt` or `tournament`. */
  kind: string,
  /** The game's name on the command line. */
  game: string,
  /** The game's name in texts. */
  title: string,
  /** The name of the rules. */
  rules: string,
  /** When it began, in seconds since 1970. */
  started: number,
  /** Seats in a match. */
  seats: number,
  /** The labels of the bots; matches refer to them by index. */
  bots: Array<string>,
};

/** A match of a series. */
export type JournalMatch = {
  /** The block, from 1. */
  block: number,
  /** The match in the block, from 1. */
  game: number,
  /** The seed, as a string: it has 64 bits. */
  seed: string,
  /** The name of the map. */
  map: string,
  /** The bot in each seat, by index in the series, from 0. */
  bots: Array<number>,
  /** The score of each seat. */
  scores: Array<number>,
  /** The rank of each seat, from 1. */
  ranks: Array<number>,
  /** Why it ended, in the game's words. */
  reason: string,
  /** The number of steps played. */
  steps: number,
  /** The longest answer of each seat, in milliseconds. */
  maxMs: Array<number>,
  /** What bots did wrong as programs. */
  faults: { seat: number; kind: string; count: number; turn: string; message: string }[],
  /** Whether its replay was kept. */
  kept: boolean,
  /** The command that plays it again. */
  command: string,
};

/** The step of a match that changed a seat's chance most: `GET /api/swing`. */
export type Swing = {
  /** From 1; 0 if nothing was played. */
  step: number,
  /** The change of the chance, from -1 to 1. */
  change: number,
};

/** What a bot's losses in a series have in common, in sentences: `GET /api/why`, and `agon why`. */
export type Causes = {
  /** How many matches it lost, of how many. */
  heading: string,
  /** Groups of matches, by where and by how it lost. */
  sorts: Array<CauseSort>,
  /** What could not be compared, and why there is no group; sentences without their full stops. */
  notes: Array<string>,
};

/** Groups of matches of one kind. */
export type CauseSort = {
  /** The kind. */
  heading: string,
  /** The most certain first. */
  causes: Array<GroupOfLosses>,
};

/** A group of matches that holds more of the losses than of the other matches. */
export type GroupOfLosses = {
  /** How many of the losses are in it, and how many of the other matches. */
  sentence: string,
  /** Its lost matches; first those in which most of the chance was lost at once. */
  lost: Array<LostMatch>,
};

/** A lost match of a group. */
export type LostMatch = {
  /** The block, from 1. */
  block: number,
  /** The match in the block, from 1. */
  game: number,
  /** The step, from 1, at which the bot lost most of its chance at once; null without a replay. */
  step: number | null,
  /** How much it lost there, in the game's words. */
  fell: string | null,
};

/** The match the page wants played: the body of `POST /api/play`. */
export type PlayRequest = {
  /** The journal's file. */
  journal: string,
  /** The block, from 1. */
  block: number,
  /** The match in the block, from 1. */
  game: number, } | NewMatch;

/** A match that the page asks for. */
export type NewMatch = {
  /** The game. */
  game: string,
  /** The bots, as on the command line, in the order of their seats. */
  bots: Array<string>,
  /** A preset, or empty. */
  rules: string,
  /** A map, `generate`, or empty. */
  map: string,
  /** The seed, or empty for a fresh one. */
  seed: string,
};

/** The match that was started. */
export type StartedMatch = {
  /** Its name: `live=` of a match. */
  live: string,
};

/** Whether an order was a mistake of the bot that gave it, as far as is known: each line of `POST /api/trial`. Closing the connection ends the trial. */
export type TrialSoFar = {
  /** The policy's order, which the bot plays on from in every second future. */
  better: string,
  /** The number of pairs of futures tried so far. */
  futures: number,
  /** The number there will be. */
  of: number,
  /** How much the other order raises its chance of coming first, from -1 to 1. */
  gain: number,
  /** The standard error of the gain. */
  error: number,
  /** A fault that the bot made on the way. */
  fault: string | null,
  /** Whether it was a mistake; null before all futures are played. */
  mistake: boolean | null,
  /** Why it could not be tried. */
  problem: string | null,
};

/** What a page is told about the script: `GET /api/script`. */
export type ScriptText = {
  /** The file, as it was named. */
  name: string,
  /** Its content. */
  text: string,
  /** Identifies this content until it changes. */
  stamp: string,
};
