// Feeds the bot a recorded match and small positions.
// Run it with: cp bot.go test/ && go test test/bot.go test/bot_test.go
//
// test/input.txt is what a bot in seat 1 really read: the first turns of a match. Take one of your own:
// agon replay export FILE.replay --input --seat 1 > test/input.txt
package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestRecordedMatch(t *testing.T) {
	recorded, err := os.ReadFile("input.txt")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	play(strings.NewReader(string(recorded)), func(answer string) { said = append(said, answer) })
	in := strings.NewReader(string(recorded))
	var me, width, height, count int
	var row string
	fmt.Fscan(in, &me, &width, &height)
	for y := 0; y < height; y++ {
		fmt.Fscan(in, &row)
	}
	turn := 0
	for ; ; turn++ {
		if _, err := fmt.Fscan(in, &count); err != nil {
			break
		}
		units := make([]Unit, count)
		for i := range units {
			units[i] = readUnit(in)
		}
		if turn >= len(said) || !legal(said[turn], units) {
			t.Fatalf("in turn %d of %d answers", turn, len(said))
		}
	}
	if turn == 0 || turn != len(said) {
		t.Fatalf("%d answers to %d turns", len(said), turn)
	}
}

func legal(answer string, units []Unit) bool {
	if answer == "WAIT" {
		return true
	}
	var id, first, second int
	var verb string
	fmt.Sscan(answer, &id, &verb, &first, &second)
	for _, own := range units {
		if own.ID != id || own.Owner != 0 {
			continue
		}
		if verb == "MOVE" {
			return first >= 0 && first < 13 && second >= 0 && second < 7
		}
		for _, target := range units {
			if target.ID == first && target.Owner != 0 {
				return own.Leads == (verb == "CONVERT")
			}
		}
	}
	return false
}

// position is the answer on a small board, each unit written as the referee writes it; a wall, if one is named.
func position(me int, units []string, wall ...int) string {
	board := Board{Me: me}
	for y := 0; y < 7; y++ {
		row := []byte(strings.Repeat(".", 13))
		if len(wall) == 2 && wall[1] == y {
			row[wall[0]] = 'x'
		}
		board.Rows = append(board.Rows, string(row))
	}
	var read []Unit
	for _, line := range units {
		read = append(read, readUnit(strings.NewReader(line)))
	}
	return answer(board, read)
}

func TestPositions(t *testing.T) {
	expect := func(got, wanted string) {
		if got != wanted {
			t.Errorf("%s, not %s", got, wanted)
		}
	}
	// A neighbour is converted.
	expect(position(0, []string{"0 1 10 3 3 0", "5 0 10 4 3 2"}), "0 CONVERT 5")
	// An enemy in range is shot, but not through a wall.
	units := []string{"1 1 10 12 3 1", "9 0 10 8 3 1", "0 1 10 5 3 0"}
	expect(position(1, units), "9 SHOOT 0")
	expect(position(1, units, 6, 3), "9 MOVE 5 3")
	// A lone leader waits.
	expect(position(0, []string{"0 1 10 3 3 0", "1 1 10 12 3 1"}), "WAIT")
}
