// A greedy Cultist Wars bot: convert, else shoot, else walk. `agon rules cultist-wars` shows the rules.
//
// Above the line: reading the input, which you need not touch. Below it: what the bot does.
// Answers go to standard output, one line per turn. Anything for yourself goes to System.err.
import java.io.BufferedReader
import java.lang.Math.abs

data class Fighter(val id: Int, val leads: Boolean, val hp: Int, val x: Int, val y: Int, val owner: Int) {
    fun distance(other: Fighter) = abs(x - other.x) + abs(y - other.y)
}

fun readFighter(line: String): Fighter {
    val n = line.split(' ').map { it.toInt() }
    return Fighter(n[0], n[1] == 1, n[2], n[3], n[4], n[5])
}

/** What stays the same for the whole match. A row is made of '.' floor and 'x' obstacle. */
data class Board(val me: Int, val rows: List<String>)

fun main() {
    play(System.`in`.bufferedReader()) { println(it) } // println flushes
}

/** Reads a match and answers each turn. */
fun play(input: BufferedReader, say: (String) -> Unit) {
    val me = input.readLine().toInt()
    val height = input.readLine().split(' ')[1].toInt()
    val board = Board(me, List(height) { input.readLine() })
    while (true) {
        val count = input.readLine() ?: break // the match is over
        say(answer(board, List(count.toInt()) { readFighter(input.readLine()) }))
    }
}

// ------------------------------------------------------------------ your strategy

const val NEUTRAL = 2
const val RANGE = 6

/** The unit for which `of` is least, the first of several. */
fun least(units: List<Fighter>, of: (Fighter) -> Int): Fighter? {
    var best: Fighter? = null
    for (unit in units) if (best == null || of(unit) < of(best)) best = unit
    return best
}

/** The order of this turn. Exactly one line: `WAIT`, `ID MOVE X Y`, `ID SHOOT TARGET` or `ID CONVERT TARGET`. */
fun answer(board: Board, units: List<Fighter>): String {
    val me = board.me
    val leader = units.firstOrNull { it.leads && it.owner == me }
    val shooters = units.filter { !it.leads && it.owner == me }
    val enemies = units.filter { it.owner == 1 - me }
    val wanted = units.filter { !it.leads && it.owner != me }

    // 1. A cultist beside our leader becomes ours, an enemy's rather than a neutral one.
    if (leader != null) {
        val prey = least(wanted.filter { leader.distance(it) == 1 }) { if (it.owner == NEUTRAL) 1 else 0 }
        if (prey != null) return "${leader.id} CONVERT ${prey.id}"
    }

    // 2. The shot that leaves its victim with the least health, if nothing is in the way.
    var shot = ""
    var walk = "WAIT"
    var fewest = Int.MAX_VALUE
    var nearest = Int.MAX_VALUE
    for (unit in shooters) {
        for (enemy in enemies) {
            val steps = unit.distance(enemy)
            val left = enemy.hp - 7 + steps
            if (steps <= RANGE && left < fewest && clear(board, units, unit, enemy)) {
                fewest = left
                shot = "${unit.id} SHOOT ${enemy.id}"
            }
            if (steps < nearest) {
                nearest = steps
                walk = "${unit.id} MOVE ${enemy.x} ${enemy.y}"
            }
        }
    }
    if (shot != "") return shot

    // 3. Our leader goes to the nearest neutral; the referee finds the way.
    if (leader != null) {
        val prey = least(wanted.filter { it.owner == NEUTRAL }) { leader.distance(it) }
        if (prey != null) return "${leader.id} CONVERT ${prey.id}"
    }

    // 4. The cultist nearest to an enemy goes there.
    return walk
}

/** Whether nothing stands between a and b; the line is drawn from the upper end (CW-SHOOT-4). */
fun clear(board: Board, units: List<Fighter>, a: Fighter, b: Fighter): Boolean {
    if (a.y > b.y) return clear(board, units, b, a)
    val dx = abs(b.x - a.x)
    val dy = b.y - a.y
    val step = if (a.x < b.x) 1 else -1
    var gap = dx - dy
    var x = a.x
    var y = a.y
    while (true) {
        val twice = 2 * gap
        if (twice > -dy) {
            gap -= dy
            x += step
        }
        if (twice < dx) {
            gap += dx
            y++
        }
        if (x == b.x && y == b.y) return true
        if (board.rows[y][x] != '.' || units.any { it.x == x && it.y == y }) return false
    }
}
