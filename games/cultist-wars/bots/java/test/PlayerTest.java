// Feeds the bot a recorded match and small positions.
// Run it with: javac -d out Player.java test/PlayerTest.java && java -cp out PlayerTest
//
// test/input.txt is what a bot in seat 1 really read: the first turns of a match. Take one of your own:
// agon replay export FILE.replay --input --seat 1 > test/input.txt
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Scanner;
import java.util.stream.Stream;

class PlayerTest {
    static int failures = 0;

    public static void main(String[] arguments) throws Exception {
        recordedMatch(Files.readString(Path.of("test/input.txt")));
        // A neighbour is converted.
        expect(position(0, List.of("0 1 10 3 3 0", "5 0 10 4 3 2")), "0 CONVERT 5");
        // An enemy in range is shot, but not through a wall.
        List<String> units = List.of("1 1 10 12 3 1", "9 0 10 8 3 1", "0 1 10 5 3 0");
        expect(position(1, units), "9 SHOOT 0");
        expect(position(1, units, 6, 3), "9 MOVE 5 3");
        // A lone leader waits.
        expect(position(0, List.of("0 1 10 3 3 0", "1 1 10 12 3 1")), "WAIT");
        System.out.println(failures == 0 ? "ok" : failures + " failed");
        System.exit(failures == 0 ? 0 : 1);
    }

    static void recordedMatch(String recorded) {
        List<String> said = new ArrayList<>();
        Player.play(new Scanner(recorded), said::add);
        Iterator<String> answers = said.iterator();
        Scanner in = new Scanner(recorded);
        in.nextInt();
        in.nextInt();
        for (int row = in.nextInt(); row > 0; row--) in.next();
        for (int turn = 0; in.hasNextInt(); turn++) {
            List<Unit> units = new ArrayList<>();
            for (int count = in.nextInt(); count > 0; count--) units.add(Unit.read(in));
            String answer = answers.hasNext() ? answers.next() : "nothing";
            check(isLegal(answer, units), answer + " in turn " + turn);
        }
        check(!answers.hasNext(), "nothing after the last turn");
    }

    static boolean isLegal(String answer, List<Unit> units) {
        if (answer.equals("WAIT")) return true;
        String[] words = answer.split(" ");
        int id = Integer.parseInt(words[0]), first = Integer.parseInt(words[2]);
        Unit own = units.stream().filter(u -> u.id() == id && u.owner() == 0).findFirst().orElse(null);
        if (own == null) return false;
        if (words[1].equals("MOVE")) {
            int y = Integer.parseInt(words[3]);
            return first >= 0 && first < 13 && y >= 0 && y < 7;
        }
        return words[1].equals(own.leads() ? "CONVERT" : "SHOOT")
                && units.stream().anyMatch(u -> u.id() == first && u.owner() != 0);
    }

    /** The answer on a small board, each unit written as the referee writes it; a wall, if one is named. */
    static String position(int me, List<String> units, int... wall) {
        List<String> rows = new ArrayList<>(Stream.generate(() -> ".".repeat(13)).limit(7).toList());
        if (wall.length == 2) {
            rows.set(wall[1], ".".repeat(wall[0]) + "x" + ".".repeat(12 - wall[0]));
        }
        return Strategy.answer(new Board(me, rows), units.stream().map(line -> Unit.read(new Scanner(line))).toList());
    }

    static void expect(String got, String wanted) {
        check(got.equals(wanted), got + ", not " + wanted);
    }

    static void check(boolean good, String what) {
        if (!good) {
            System.out.println("FAILED: " + what);
            failures++;
        }
    }
}
