// Feeds the bot a recorded match and small positions.
// Run it with: kotlinc bot.kt test/test.kt -include-runtime -d test/run.jar && java -cp test/run.jar TestKt
//
// test/input.txt is what a bot in seat 1 really read: the first turns of a match. Take one of your own:
// agon replay export FILE.replay --input --seat 1 > test/input.txt
import java.io.File
import kotlin.system.exitProcess

object Test {
    private var failures = 0

    fun run(): Int {
        recordedMatch(File("test/input.txt").readText())
        // A neighbour is converted.
        expect(position(0, listOf("0 1 10 3 3 0", "5 0 10 4 3 2")), "0 CONVERT 5")
        // An enemy in range is shot, but not through a wall.
        val units = listOf("1 1 10 12 3 1", "9 0 10 8 3 1", "0 1 10 5 3 0")
        expect(position(1, units), "9 SHOOT 0")
        expect(position(1, units, Pair(6, 3)), "9 MOVE 5 3")
        // A lone leader waits.
        expect(position(0, listOf("0 1 10 3 3 0", "1 1 10 12 3 1")), "WAIT")
        println(if (failures == 0) "ok" else "$failures failed")
        return if (failures == 0) 0 else 1
    }

    private fun recordedMatch(recorded: String) {
        val said = ArrayList<String>()
        play(recorded.reader().buffered()) { said.add(it) }
        val lines = recorded.trim().lines()
        var at = 2 + lines[1].split(' ')[1].toInt()
        var turn = 0
        while (at < lines.size) {
            val count = lines[at].toInt()
            val units = lines.subList(at + 1, at + 1 + count).map { readFighter(it) }
            val answer = if (turn < said.size) said[turn] else "nothing"
            check(isLegal(answer, units), "$answer in turn $turn")
            at += 1 + count
            turn++
        }
        check(turn > 0 && turn == said.size, "${said.size} answers to $turn turns")
    }

    private fun isLegal(answer: String, units: List<Fighter>): Boolean {
        if (answer == "WAIT") return true
        val words = answer.split(' ')
        if (words.size < 3) return false
        val own = units.firstOrNull { it.id == words[0].toInt() && it.owner == 0 } ?: return false
        val first = words[2].toInt()
        if (words[1] == "MOVE") return first in 0..12 && words[3].toInt() in 0..6
        return words[1] == (if (own.leads) "CONVERT" else "SHOOT") && units.any { it.id == first && it.owner != 0 }
    }

    /** The answer on a small board, each unit written as the referee writes it; a wall, if one is named. */
    private fun position(me: Int, units: List<String>, wall: Pair<Int, Int>? = null): String {
        val rows = List(7) { y ->
            (0..12).joinToString("") { x -> if (wall == Pair(x, y)) "x" else "." }
        }
        return answer(Board(me, rows), units.map { readFighter(it) })
    }

    private fun expect(got: String, wanted: String) = check(got == wanted, "$got, not $wanted")

    private fun check(good: Boolean, what: String) {
        if (!good) {
            println("FAILED: $what")
            failures++
        }
    }
}

fun main(arguments: Array<String>) {
    exitProcess(Test.run())
}
