// A greedy Cultist Wars bot: convert, else shoot, else walk. `agon rules cultist-wars` shows the rules.
//
// Above the line: reading the input, which you need not touch. Below it: what the bot does.
// Answers go to standard output, one line per turn. Anything for yourself goes to standard error (eprintln!).
use std::io::BufRead;

const NEUTRAL: i32 = 2;
const RANGE: i32 = 6;

#[derive(Clone, Copy)]
struct Unit {
    id: i32,
    leads: bool,
    hp: i32,
    x: i32,
    y: i32,
    owner: i32,
}

struct Board {
    me: i32,
    rows: Vec<Vec<u8>>, // b'.' floor, b'x' obstacle
}

/// The numbers of a line.
fn numbers(line: &str) -> Vec<i32> {
    line.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

fn unit(line: &str) -> Unit {
    let [id, kind, hp, x, y, owner] = numbers(line)[..] else { panic!("not a unit: {line}") };
    Unit { id, leads: kind == 1, hp, x, y, owner }
}

/// Reads a match and answers each turn.
fn play(input: impl BufRead, mut say: impl FnMut(String)) {
    let mut lines = input.lines().map_while(Result::ok);
    let mut line = || lines.next();
    let Some(me) = line() else { return };
    let size = numbers(&line().expect("the size of the board"));
    let rows = (0..size[1]).map(|_| line().expect("a row").into_bytes()).collect();
    let board = Board { me: me.trim().parse().expect("0 or 1"), rows };
    while let Some(count) = line() {
        let count: usize = count.trim().parse().expect("the number of units");
        let units: Vec<Unit> = (0..count).map_while(|_| line()).map(|line| unit(&line)).collect();
        say(answer(&board, &units));
    }
}

fn main() {
    // Standard output is flushed at the end of each line.
    play(std::io::stdin().lock(), |order| println!("{order}"));
}

// ------------------------------------------------------------------ your strategy

fn distance(a: &Unit, b: &Unit) -> i32 {
    (a.x - b.x).abs() + (a.y - b.y).abs()
}

/// Whether nothing stands between a and b; the line is drawn from the upper end (CW-SHOOT-4).
/// `taken` is the board with the units on it.
fn clear(taken: &[Vec<u8>], a: &Unit, b: &Unit) -> bool {
    let (a, b) = if a.y > b.y { (b, a) } else { (a, b) };
    let (dx, dy, step) = ((b.x - a.x).abs(), b.y - a.y, (b.x - a.x).signum());
    let (mut x, mut y, mut err) = (a.x, a.y, dx - dy);
    loop {
        let twice = 2 * err;
        if twice > -dy {
            err -= dy;
            x += step;
        }
        if twice < dx {
            err += dx;
            y += 1;
        }
        if (x, y) == (b.x, b.y) {
            return true;
        }
        if taken[y as usize][x as usize] != b'.' {
            return false;
        }
    }
}

/// The order of this turn. Exactly one line: `WAIT`, `ID MOVE X Y`, `ID SHOOT TARGET` or `ID CONVERT TARGET`.
fn answer(board: &Board, units: &[Unit]) -> String {
    let me = board.me;
    let leader = units.iter().find(|u| u.leads && u.owner == me);
    let shooters: Vec<&Unit> = units.iter().filter(|u| !u.leads && u.owner == me).collect();
    let enemies: Vec<&Unit> = units.iter().filter(|u| u.owner == 1 - me).collect();
    let wanted: Vec<&Unit> = units.iter().filter(|u| !u.leads && u.owner != me).collect();

    // 1. A cultist beside our leader becomes ours, an enemy's rather than a neutral one.
    if let Some(leader) = leader {
        let beside = wanted.iter().filter(|u| distance(leader, u) == 1);
        if let Some(prey) = beside.min_by_key(|u| u.owner == NEUTRAL) {
            return format!("{} CONVERT {}", leader.id, prey.id);
        }
    }

    // 2. The shot that leaves its victim with the least health, if nothing is in the way.
    let mut taken = board.rows.clone();
    units.iter().for_each(|u| taken[u.y as usize][u.x as usize] = b'u');
    let pairs = || shooters.iter().flat_map(|u| enemies.iter().map(move |enemy| (*u, *enemy)));
    let shots = pairs().filter(|(u, enemy)| distance(u, enemy) <= RANGE && clear(&taken, u, enemy));
    if let Some((u, enemy)) = shots.min_by_key(|(u, enemy)| enemy.hp - 7 + distance(u, enemy)) {
        return format!("{} SHOOT {}", u.id, enemy.id);
    }

    // 3. Our leader goes to the nearest neutral; the referee finds the way.
    if let Some(leader) = leader {
        let neutrals = wanted.iter().filter(|u| u.owner == NEUTRAL);
        if let Some(prey) = neutrals.min_by_key(|u| distance(leader, u)) {
            return format!("{} CONVERT {}", leader.id, prey.id);
        }
    }

    // 4. The cultist nearest to an enemy goes there.
    match pairs().min_by_key(|(u, enemy)| distance(u, enemy)) {
        Some((u, enemy)) => format!("{} MOVE {} {}", u.id, enemy.x, enemy.y),
        None => "WAIT".to_string(),
    }
}
