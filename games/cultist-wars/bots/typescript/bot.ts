// A greedy Cultist Wars bot: convert, else shoot, else walk. `agon rules cultist-wars` shows the rules.
//
// Above the line: reading the input, which you need not touch. Below it: what the bot does.
// Answers go to standard output, one line per turn. Anything for yourself goes to console.error.

// What Node has; without its types the compiler has to be told.
declare const require: any, module: any;

interface Unit {
  id: number;
  leads: boolean;
  hp: number;
  x: number;
  y: number;
  owner: number;
}

/** What stays the same for the whole match. A row is made of "." floor and "x" obstacle. */
interface Board {
  me: number;
  rows: string[];
}

/** Pauses at each `yield` until the next line of input is there. */
function* play(say: (answer: string) => void): Generator<undefined, void, string> {
  const me = Number(yield);
  const height = Number((yield).split(" ")[1]);
  const board: Board = { me, rows: [] };
  for (let y = 0; y < height; y++) board.rows.push(yield);
  for (;;) {
    const units: Unit[] = [];
    for (let count = Number(yield); count > 0; count--) units.push(readUnit(yield));
    say(answer(board, units));
  }
}

function readUnit(line: string): Unit {
  const [id, kind, hp, x, y, owner] = line.split(" ").map(Number);
  return { id, leads: kind === 1, hp, x, y, owner };
}

// ------------------------------------------------------------------ your strategy

const NEUTRAL = 2;
const RANGE = 6;

function distance(a: Unit, b: Unit): number {
  return Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
}

/** The unit for which `of` is least, the first of several. */
function least(units: Unit[], of: (unit: Unit) => number): Unit | undefined {
  return units.reduce<Unit | undefined>((best, unit) => (best && of(best) <= of(unit) ? best : unit), undefined);
}

/** The order of this turn. Exactly one line: `WAIT`, `ID MOVE X Y`, `ID SHOOT TARGET` or `ID CONVERT TARGET`. */
function answer(board: Board, units: Unit[]): string {
  const { me } = board;
  const leader = units.find((unit) => unit.leads && unit.owner === me);
  const shooters = units.filter((unit) => !unit.leads && unit.owner === me);
  const enemies = units.filter((unit) => unit.owner === 1 - me);
  const wanted = units.filter((unit) => !unit.leads && unit.owner !== me);

  // 1. A cultist beside our leader becomes ours, an enemy's rather than a neutral one.
  if (leader) {
    const beside = wanted.filter((unit) => distance(leader, unit) === 1);
    const prey = least(beside, (unit) => (unit.owner === NEUTRAL ? 1 : 0));
    if (prey) return `${leader.id} CONVERT ${prey.id}`;
  }

  // 2. The shot that leaves its victim with the least health, if nothing is in the way.
  let shot = "", walk = "WAIT", fewest = Infinity, nearest = Infinity;
  for (const unit of shooters) {
    for (const enemy of enemies) {
      const steps = distance(unit, enemy), left = enemy.hp - 7 + steps;
      if (steps <= RANGE && left < fewest && clear(board, units, unit, enemy)) {
        fewest = left;
        shot = `${unit.id} SHOOT ${enemy.id}`;
      }
      if (steps < nearest) {
        nearest = steps;
        walk = `${unit.id} MOVE ${enemy.x} ${enemy.y}`;
      }
    }
  }
  if (shot) return shot;

  // 3. Our leader goes to the nearest neutral; the referee finds the way.
  if (leader) {
    const prey = least(wanted.filter((unit) => unit.owner === NEUTRAL), (unit) => distance(leader, unit));
    if (prey) return `${leader.id} CONVERT ${prey.id}`;
  }

  // 4. The cultist nearest to an enemy goes there.
  return walk;
}

/** Whether nothing stands between a and b; the line is drawn from the upper end (CW-SHOOT-4). */
function clear(board: Board, units: Unit[], a: Unit, b: Unit): boolean {
  if (a.y > b.y) [a, b] = [b, a];
  const dx = Math.abs(b.x - a.x), dy = b.y - a.y, step = a.x < b.x ? 1 : -1;
  for (let { x, y } = a, gap = dx - dy; ; ) {
    const twice = 2 * gap;
    if (twice > -dy) {
      gap -= dy;
      x += step;
    }
    if (twice < dx) {
      gap += dx;
      y++;
    }
    if (x === b.x && y === b.y) return true;
    if (board.rows[y][x] !== "." || units.some((unit) => unit.x === x && unit.y === y)) return false;
  }
}

// ------------------------------------------------------------------ where it begins

if (require.main === module) {
  const turns = play(console.log);
  turns.next();
  require("readline").createInterface({ input: require("process").stdin }).on("line", (line: string) => turns.next(line));
}
