// A greedy Cultist Wars bot: convert, else shoot, else walk. `agon rules cultist-wars` shows the rules.
//
// Above the line: reading the input, which you need not touch. Below it: what the bot does.
// Answers go to standard output, one line per turn. Anything for yourself goes to System.err.
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Scanner;
import java.util.function.Consumer;

record Unit(int id, boolean leads, int hp, int x, int y, int owner) {
    static Unit read(Scanner in) {
        return new Unit(in.nextInt(), in.nextInt() == 1, in.nextInt(), in.nextInt(), in.nextInt(), in.nextInt());
    }

    int distance(Unit other) {
        return Math.abs(x - other.x) + Math.abs(y - other.y);
    }
}

/** What stays the same for the whole match. A row is made of '.' floor and 'x' obstacle. */
record Board(int me, List<String> rows) {}

/** The contest's site wants this name. */
class Player {
    public static void main(String[] arguments) {
        play(new Scanner(System.in), System.out::println); // println flushes
    }

    /** Reads a match and answers each turn. */
    static void play(Scanner in, Consumer<String> say) {
        int me = in.nextInt(), width = in.nextInt(), height = in.nextInt();
        List<String> rows = new ArrayList<>();
        for (int y = 0; y < height; y++) rows.add(in.next());
        Board board = new Board(me, rows);
        while (in.hasNextInt()) { // until the match is over
            int count = in.nextInt();
            List<Unit> units = new ArrayList<>();
            for (int i = 0; i < count; i++) units.add(Unit.read(in));
            say.accept(Strategy.answer(board, units));
        }
    }
}

// ------------------------------------------------------------------ your strategy

class Strategy {
    static final int NEUTRAL = 2;
    static final int RANGE = 6;

    /** The order of this turn. Exactly one line: `WAIT`, `ID MOVE X Y`, `ID SHOOT TARGET` or `ID CONVERT TARGET`. */
    static String answer(Board board, List<Unit> units) {
        int me = board.me();
        Optional<Unit> leader = units.stream().filter(u -> u.leads() && u.owner() == me).findFirst();
        List<Unit> shooters = units.stream().filter(u -> !u.leads() && u.owner() == me).toList();
        List<Unit> enemies = units.stream().filter(u -> u.owner() == 1 - me).toList();
        List<Unit> wanted = units.stream().filter(u -> !u.leads() && u.owner() != me).toList();

        // 1. A cultist beside our leader becomes ours, an enemy's rather than a neutral one.
        if (leader.isPresent()) {
            Unit own = leader.get();
            Optional<Unit> prey = wanted.stream()
                    .filter(u -> own.distance(u) == 1)
                    .min(Comparator.comparing(u -> u.owner() == NEUTRAL));
            if (prey.isPresent()) return own.id() + " CONVERT " + prey.get().id();
        }

        // 2. The shot that leaves its victim with the least health, if nothing is in the way.
        String shot = null, walk = "WAIT";
        int least = Integer.MAX_VALUE, nearest = Integer.MAX_VALUE;
        for (Unit u : shooters) {
            for (Unit enemy : enemies) {
                int steps = u.distance(enemy), left = enemy.hp() - 7 + steps;
                if (steps <= RANGE && left < least && clear(board, units, u, enemy)) {
                    least = left;
                    shot = u.id() + " SHOOT " + enemy.id();
                }
                if (steps < nearest) {
                    nearest = steps;
                    walk = u.id() + " MOVE " + enemy.x() + " " + enemy.y();
                }
            }
        }
        if (shot != null) return shot;

        // 3. Our leader goes to the nearest neutral; the referee finds the way.
        if (leader.isPresent()) {
            Unit own = leader.get();
            Optional<Unit> prey = wanted.stream()
                    .filter(u -> u.owner() == NEUTRAL)
                    .min(Comparator.comparing(own::distance));
            if (prey.isPresent()) return own.id() + " CONVERT " + prey.get().id();
        }

        // 4. The cultist nearest to an enemy goes there.
        return walk;
    }

    /** Whether nothing stands between a and b; the line is drawn from the upper end (CW-SHOOT-4). */
    static boolean clear(Board board, List<Unit> units, Unit a, Unit b) {
        if (a.y() > b.y()) return clear(board, units, b, a);
        int dx = Math.abs(b.x() - a.x()), dy = b.y() - a.y(), step = a.x() < b.x() ? 1 : -1, err = dx - dy;
        for (int x = a.x(), y = a.y(); ; ) {
            int twice = 2 * err;
            if (twice > -dy) {
                err -= dy;
                x += step;
            }
            if (twice < dx) {
                err += dx;
                y++;
            }
            if (x == b.x() && y == b.y()) return true;
            int column = x, row = y;
            if (board.rows().get(row).charAt(column) != '.') return false;
            if (units.stream().anyMatch(u -> u.x() == column && u.y() == row)) return false;
        }
    }
}
