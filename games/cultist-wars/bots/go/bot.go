// A greedy Cultist Wars bot: convert, else shoot, else walk. `agon rules cultist-wars` shows the rules.
//
// Above the line: reading the input, which you need not touch. Below it: what the bot does.
// Answers go to standard output, one line per turn. Anything for yourself goes to os.Stderr.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// Unit is a leader or a cultist. Owner is 0 or 1 for the players, 2 for neutral.
type Unit struct {
	ID    int
	Leads bool
	HP    int
	X, Y  int
	Owner int
}

func (a Unit) distance(b Unit) int {
	return abs(a.X-b.X) + abs(a.Y-b.Y)
}

// Board is what stays the same for the whole match. A row is made of '.' floor and 'x' obstacle.
type Board struct {
	Me   int
	Rows []string
}

func main() {
	play(os.Stdin, func(answer string) { fmt.Println(answer) }) // nothing is held back
}

// play reads a match and answers each turn.
func play(input io.Reader, say func(string)) {
	in := bufio.NewReader(input)
	var board Board
	var width, height int
	fmt.Fscan(in, &board.Me, &width, &height)
	board.Rows = make([]string, height)
	for y := range board.Rows {
		fmt.Fscan(in, &board.Rows[y])
	}
	for {
		var count int
		if _, err := fmt.Fscan(in, &count); err != nil {
			return // the match is over
		}
		units := make([]Unit, count)
		for i := range units {
			units[i] = readUnit(in)
		}
		say(answer(board, units))
	}
}

func readUnit(in io.Reader) Unit {
	var u Unit
	var kind int
	fmt.Fscan(in, &u.ID, &kind, &u.HP, &u.X, &u.Y, &u.Owner)
	u.Leads = kind == 1
	return u
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// ------------------------------------------------------------------ your strategy

const neutral = 2
const reach = 6

// answer is the order of this turn. Exactly one line: `WAIT`, `ID MOVE X Y`, `ID SHOOT TARGET` or `ID CONVERT TARGET`.
func answer(board Board, units []Unit) string {
	var leader *Unit
	var shooters, enemies, wanted []Unit
	for i, u := range units {
		switch {
		case u.Leads && u.Owner == board.Me:
			leader = &units[i]
		case u.Owner == board.Me:
			shooters = append(shooters, u)
		}
		if u.Owner == 1-board.Me {
			enemies = append(enemies, u)
		}
		if !u.Leads && u.Owner != board.Me {
			wanted = append(wanted, u)
		}
	}

	// 1. A cultist beside our leader becomes ours, an enemy's rather than a neutral one.
	if leader != nil {
		var prey *Unit
		for i, u := range wanted {
			if leader.distance(u) == 1 && (prey == nil || prey.Owner == neutral && u.Owner != neutral) {
				prey = &wanted[i]
			}
		}
		if prey != nil {
			return fmt.Sprintf("%d CONVERT %d", leader.ID, prey.ID)
		}
	}

	// 2. The shot that leaves its victim with the least health, if nothing is in the way.
	shot, walk := "", "WAIT"
	least, nearest := 1<<30, 1<<30
	for _, u := range shooters {
		for _, enemy := range enemies {
			steps := u.distance(enemy)
			left := enemy.HP - 7 + steps
			if steps <= reach && left < least && clear(board, units, u, enemy) {
				least = left
				shot = fmt.Sprintf("%d SHOOT %d", u.ID, enemy.ID)
			}
			if steps < nearest {
				nearest = steps
				walk = fmt.Sprintf("%d MOVE %d %d", u.ID, enemy.X, enemy.Y)
			}
		}
	}
	if shot != "" {
		return shot
	}

	// 3. Our leader goes to the nearest neutral; the referee finds the way.
	if leader != nil {
		var prey *Unit
		for i, u := range wanted {
			if u.Owner == neutral && (prey == nil || leader.distance(u) < leader.distance(*prey)) {
				prey = &wanted[i]
			}
		}
		if prey != nil {
			return fmt.Sprintf("%d CONVERT %d", leader.ID, prey.ID)
		}
	}

	// 4. The cultist nearest to an enemy goes there.
	return walk
}

// clear tells whether nothing stands between a and b; the line is drawn from the upper end (CW-SHOOT-4).
func clear(board Board, units []Unit, a, b Unit) bool {
	if a.Y > b.Y {
		a, b = b, a
	}
	dx, dy, step := abs(b.X-a.X), b.Y-a.Y, -1
	if a.X < b.X {
		step = 1
	}
	gap := dx - dy
	for x, y := a.X, a.Y; ; {
		twice := 2 * gap
		if twice > -dy {
			gap -= dy
			x += step
		}
		if twice < dx {
			gap += dx
			y++
		}
		if x == b.X && y == b.Y {
			return true
		}
		if board.Rows[y][x] != '.' {
			return false
		}
		for _, u := range units {
			if u.X == x && u.Y == y {
				return false
			}
		}
	}
}
