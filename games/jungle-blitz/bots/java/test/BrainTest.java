import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * Feeds the bot recorded ticks and small situations. Run it, in the bot's folder, with
 * javac -d target/test *.java test/*.java && java -cp target/test BrainTest
 *
 * <p>test/input.txt is what a bot in seat 1 really read: the first ticks of a match. Take one of your own:
 * agon replay export FILE.replay --input --seat 1 &gt; test/input.txt
 */
final class BrainTest {
    private static List<String> recorded;

    public static void main(String[] arguments) throws IOException {
        recorded = Files.readAllLines(Path.of("test/input.txt"));
        everyTickGetsItsCommand();
        unitsComeUpOnSpawnTiles();
        aUnitWalksToADiamond();
        aDiamondIsDroppedWhenAnEnemyComesOrTheMatchEnds();
        jsonIsReadAndWhatIsNoneIsRefused();
        System.out.println("ok");
    }

    private static void everyTickGetsItsCommand() {
        for (String line : recorded) {
            Object command = Json.parse(Bot.answer(line));
            Game.Tick tick = new Game.Tick(line);
            same(Json.at(command, "type"), "COMMAND");
            same(Json.at(command, "tick"), (double) tick.number);
            List<?> actions = Json.list(Json.at(command, "actions"));
            List<String> units = actions.stream().map(action -> Json.text(Json.at(action, "unitId"))).toList();
            same(units, tick.me().units().stream().map(Game.Unit::id).toList());
        }
    }

    private static void unitsComeUpOnSpawnTiles() {
        Game.Tick tick = new Game.Tick(recorded.get(0));
        for (Game.Action action : Brain.decide(tick)) {
            same(action.name(), "SPAWN");
            check(tick.spawns().contains(action.target()), "a spawn tile: " + action);
        }
    }

    private static void aUnitWalksToADiamond() {
        Game.Tick tick = new Game.Tick(recorded.get(1));
        Game.Action action = Brain.decide(tick).get(0);
        same(action.name(), "MOVE");
        check(tick.diamonds.stream().anyMatch(diamond -> diamond.position().equals(action.target())), "a diamond is there");
    }

    private static void aDiamondIsDroppedWhenAnEnemyComesOrTheMatchEnds() {
        Game.Position here = new Game.Position(1, 1);
        same(Brain.decide(holding(100, here, new Game.Position(3, 1))).get(0).name(), "DROP");
        same(Brain.decide(holding(299, here, new Game.Position(9, 9))).get(0).name(), "DROP");
        same(Brain.decide(holding(100, here, new Game.Position(9, 9))).get(0).name(), "SUMMON");
    }

    /** The second recorded tick, on an open map; our first unit holds the first diamond, an enemy stands somewhere. */
    private static Game.Tick holding(int number, Game.Position at, Game.Position enemyAt) {
        Game.Tick tick = new Game.Tick(recorded.get(1).replaceFirst("\"tick\":1,", "\"tick\":" + number + ","));
        for (Game.Tile[] column : tick.tiles) Arrays.fill(column, Game.Tile.EMPTY);
        Game.Diamond diamond = tick.diamonds.get(0);
        Game.Unit own = tick.me().units().get(0);
        tick.diamonds.set(0, new Game.Diamond(diamond.id(), at, 1, 5, own.id()));
        tick.teams.replaceAll(team -> team.id().equals(tick.teamId)
                ? team(team, unit(own, at, diamond.id()))
                : team(team, unit(team.units().get(0), enemyAt, null)));
        return tick;
    }

    private static Game.Team team(Game.Team team, Game.Unit unit) {
        return new Game.Team(team.id(), team.name(), 0, false, List.of(), List.of(unit));
    }

    private static Game.Unit unit(Game.Unit unit, Game.Position at, String diamond) {
        return new Game.Unit(unit.id(), unit.teamId(), true, at, List.of(), diamond, false, null, null);
    }

    private static void jsonIsReadAndWhatIsNoneIsRefused() {
        Object value = Json.parse(" {\"a\": [1, -2.5e1, true, null, \"x\\n\\u00e9\\\"\", []], \"b\": {}} ");
        same(Json.at(value, "a", 1), -25.0);
        same(Json.at(value, "a", 2), true);
        same(Json.at(value, "a", 4), "x\n\u00e9\"");
        same(Json.list(Json.at(value, "a")).size(), 6);
        same(Json.at(value, "c", "d", 9), null);
        List<String> wrong = List.of("", "{", "[1,]", "[1 2]", "{\"a\"}", "\"x", "nul", "1 2", "--", "\"\\u12\"", "[".repeat(100_000));
        for (String text : wrong) {
            try {
                Json.parse(text);
            } catch (IllegalArgumentException expected) {
                continue;
            }
            throw new AssertionError("read: " + text);
        }
        same(Json.quoted("a\"\\\n"), "\"a\\\"\\\\\\u000a\"");
    }

    private static void same(Object got, Object wanted) {
        check(got == null ? wanted == null : got.equals(wanted), got + ", not " + wanted);
    }

    private static void check(boolean good, String what) {
        if (!good) throw new AssertionError(what);
    }
}
