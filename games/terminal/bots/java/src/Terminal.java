import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The protocol of Terminal: reads the lines of the game, writes the two lines of an answer.
 *
 * <p>All decisions are in Strategy. You always play from below: your half is rows 0
 * to 13. Print with System.err only: standard output is how you talk to the game.
 */
public final class Terminal {
    private Terminal() {}

    /** What a strategy does. Only {@code turn} is needed. */
    public interface Player {
        /** The match begins. */
        default void start(Config config) {}

        /** A deploy phase: give your orders. */
        void turn(Config config, Turn turn);

        /** A moment of the action phase. */
        default void frame(Config config, Frame frame) {}

        /** The match is over; {@code Json.at(stats, "winner")} is 1 if that is you. */
        default void end(Object stats) {}
    }

    /** The configuration: what units are called and what they cost. */
    public static final class Config {
        /** All of it. */
        public final Object raw;

        public final String wall, support, turret, scout, demolisher, interceptor, remove, upgrade;
        private final List<String> names = new ArrayList<>();

        Config(Object raw) {
            this.raw = raw;
            for (Object unit : Json.list(Json.at(raw, "unitInformation"))) {
                names.add(Json.text(Json.at(unit, "shorthand")));
            }
            wall = names.get(0);
            support = names.get(1);
            turret = names.get(2);
            scout = names.get(3);
            demolisher = names.get(4);
            interceptor = names.get(5);
            remove = names.get(6);
            upgrade = names.get(7);
        }

        /** What a unit costs: structure points for structures, mobile points for mobile units. */
        public double cost(String name) {
            int kind = names.indexOf(name);
            return Json.number(Json.at(raw, "unitInformation", kind, kind >= 3 ? "cost2" : "cost1"));
        }

        /** What the upgrade of a structure costs; endless where there is none. */
        public double upgradeCost(String name) {
            Object upgrade = Json.at(raw, "unitInformation", names.indexOf(name), "upgrade");
            if (upgrade == null) return Double.POSITIVE_INFINITY;
            Object cost = Json.at(upgrade, "cost1");
            return cost == null ? cost(name) : Json.number(cost);
        }
    }

    /** A tile. */
    public record Tile(int x, int y) {
        /** Whether it lies in the diamond. */
        public boolean inside() {
            if (y < 0 || y > 27) return false;
            return y < 14 ? 13 - y <= x && x <= 14 + y : y - 14 <= x && x <= 41 - y;
        }
    }

    /** A structure on the board; owner 1 is you. */
    public record Structure(int owner, String name, double health) {}

    /** A deploy phase: what you see, and the orders you give. */
    public static final class Turn {
        public final int number;
        public final double health, enemyHealth, enemyStructurePoints, enemyMobilePoints;
        public double structurePoints, mobilePoints;
        public final Map<Tile, Structure> structures = new HashMap<>();
        public final Set<Tile> upgraded = new HashSet<>();
        /** Marked for removal. */
        public final Set<Tile> leaving = new HashSet<>();
        private final Config config;
        private final List<String> buildStack = new ArrayList<>();
        private final List<String> deployStack = new ArrayList<>();

        Turn(Config config, Object state) {
            this.config = config;
            number = (int) Json.number(Json.at(state, "turnInfo", 1));
            health = Json.number(Json.at(state, "p1Stats", 0));
            structurePoints = Json.number(Json.at(state, "p1Stats", 1));
            mobilePoints = Json.number(Json.at(state, "p1Stats", 2));
            enemyHealth = Json.number(Json.at(state, "p2Stats", 0));
            enemyStructurePoints = Json.number(Json.at(state, "p2Stats", 1));
            enemyMobilePoints = Json.number(Json.at(state, "p2Stats", 2));
            for (int owner = 1; owner <= 2; owner++) {
                Object lists = Json.at(state, "p" + owner + "Units");
                for (int kind = 0; kind < 3; kind++) {
                    for (Object unit : Json.list(Json.at(lists, kind))) {
                        double left = Json.number(Json.at(unit, 2));
                        structures.put(tile(unit), new Structure(owner, config.names.get(kind), left));
                    }
                }
                for (Object unit : Json.list(Json.at(lists, 6))) leaving.add(tile(unit));
                for (Object unit : Json.list(Json.at(lists, 7))) upgraded.add(tile(unit));
            }
        }

        /** Builds a structure in your half, if possible; returns whether it was. */
        public boolean build(String name, int x, int y) {
            Tile tile = new Tile(x, y);
            double cost = config.cost(name);
            if (!tile.inside() || y > 13 || structures.containsKey(tile) || cost > structurePoints) return false;
            structurePoints -= cost;
            structures.put(tile, new Structure(1, name, 0));
            buildStack.add(order(name, tile));
            return true;
        }

        /** Upgrades a structure of yours, if possible; returns whether it was. */
        public boolean upgrade(int x, int y) {
            Tile tile = new Tile(x, y);
            Structure structure = structures.get(tile);
            if (structure == null || structure.owner() != 1 || upgraded.contains(tile)) return false;
            double cost = config.upgradeCost(structure.name());
            if (cost > structurePoints) return false;
            structurePoints -= cost;
            upgraded.add(tile);
            buildStack.add(order(config.upgrade, tile));
            return true;
        }

        /** Marks a structure of yours for removal. */
        public void remove(int x, int y) {
            buildStack.add(order(config.remove, new Tile(x, y)));
        }

        /** Deploys up to {@code count} mobile units on one of your edges and returns how many were deployed. */
        public int deploy(String name, int x, int y, int count) {
            Tile tile = new Tile(x, y);
            double cost = config.cost(name);
            int done = 0;
            if ((x + y != 13 && x - y != 14) || structures.containsKey(tile)) return done;
            while (done < count && cost <= mobilePoints) {
                mobilePoints -= cost;
                deployStack.add(order(name, tile));
                done++;
            }
            return done;
        }

        /** The two lines of the answer. */
        public String answer() {
            return "[" + String.join(",", buildStack) + "]\n[" + String.join(",", deployStack) + "]\n";
        }

        private static String order(String name, Tile tile) {
            return "[" + Json.quoted(name) + "," + tile.x() + "," + tile.y() + "]";
        }
    }

    /** A mobile unit on the board; owner 1 is you. */
    public record Mobile(int owner, String name, Tile at, double health, String id) {}

    /**
     * Something that happened in a frame.
     *
     * @param at where
     * @param to where a unit moved, or the target of an attack or a shield; null elsewhere
     * @param amount damage done, or the amount of a shield
     * @param name the unit that did or suffered it; of a spawn also the names of removals and upgrades
     * @param target the id of the target of an attack or a shield; empty elsewhere
     * @param owner 1 is you
     */
    public record Event(Tile at, Tile to, double amount, String name, String id, String target, int owner) {}

    /** A moment of the action phase: what moves, and what happened. */
    public static final class Frame {
        public final int turn, number;
        public final double health, enemyHealth;
        public final List<Mobile> mobiles = new ArrayList<>();
        public final List<Event> spawns, moves, breaches, damages, shields, attacks, selfDestructs, deaths;

        Frame(Config config, Object state) {
            turn = (int) Json.number(Json.at(state, "turnInfo", 1));
            number = (int) Json.number(Json.at(state, "turnInfo", 2));
            health = Json.number(Json.at(state, "p1Stats", 0));
            enemyHealth = Json.number(Json.at(state, "p2Stats", 0));
            for (int owner = 1; owner <= 2; owner++) {
                for (int kind = 3; kind < 6; kind++) {
                    for (Object unit : Json.list(Json.at(state, "p" + owner + "Units", kind))) {
                        double left = Json.number(Json.at(unit, 2));
                        String id = Json.text(Json.at(unit, 3));
                        mobiles.add(new Mobile(owner, config.names.get(kind), tile(unit), left, id));
                    }
                }
            }
            // Each letter is a field of an event, in the order the game writes them.
            spawns = events(config, state, "spawn", "@kio");
            moves = events(config, state, "move", "@>-kio");
            breaches = events(config, state, "breach", "@akio");
            damages = events(config, state, "damage", "@akio");
            shields = events(config, state, "shield", "@>akito");
            attacks = events(config, state, "attack", "@>akito");
            selfDestructs = events(config, state, "selfDestruct", "@-akio");
            deaths = events(config, state, "death", "@kio");
        }

        private static List<Event> events(Config config, Object state, String name, String fields) {
            List<Event> events = new ArrayList<>();
            for (Object entry : Json.list(Json.at(state, "events", name))) {
                Object to = field(entry, fields, '>');
                events.add(new Event(
                        tile(field(entry, fields, '@')),
                        to == null ? null : tile(to),
                        Json.number(field(entry, fields, 'a')),
                        config.names.get((int) Json.number(field(entry, fields, 'k'))),
                        Json.text(field(entry, fields, 'i')),
                        Json.text(field(entry, fields, 't')),
                        (int) Json.number(field(entry, fields, 'o'))));
            }
            return events;
        }

        private static Object field(Object entry, String fields, char letter) {
            return Json.at(entry, fields.indexOf(letter));
        }
    }

    /** The tile that a list begins with. */
    private static Tile tile(Object list) {
        return new Tile((int) Json.number(Json.at(list, 0)), (int) Json.number(Json.at(list, 1)));
    }

    /** Plays a match over standard input and output. */
    public static void run(Player player) throws IOException {
        talk(player, new InputStreamReader(System.in, StandardCharsets.UTF_8), answer -> {
            System.out.print(answer);
            System.out.flush();
        });
    }

    /** Answers the lines of a match. */
    static void talk(Player player, Reader lines, Consumer<String> say) throws IOException {
        BufferedReader in = new BufferedReader(lines);
        Config config = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.isBlank()) continue;
            Object message = Json.parse(line);
            if (Json.at(message, "unitInformation") != null) {
                config = new Config(message);
                player.start(config);
                continue;
            }
            Object phase = Json.at(message, "turnInfo", 0);
            if (phase == null || config == null) continue;
            switch ((int) Json.number(phase)) {
                case 0 -> {
                    Turn turn = new Turn(config, message);
                    player.turn(config, turn);
                    say.accept(turn.answer());
                }
                case 1 -> player.frame(config, new Frame(config, message));
                case 2 -> {
                    player.end(Json.at(message, "endStats"));
                    return;
                }
                default -> {}
            }
        }
    }
}
