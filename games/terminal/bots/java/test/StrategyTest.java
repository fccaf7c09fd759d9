import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Feeds the strategy recorded lines and small situations. Run it, in the bot's folder, with
 * javac -d target/test src/*.java test/*.java && java -cp target/test StrategyTest
 *
 * <p>test/input.txt is what a bot in seat 1 really read: the first turns of a match. Take one of your own:
 * agon replay export FILE.replay --input --seat 1 &gt; test/input.txt
 */
final class StrategyTest {
    private static List<String> recorded;
    private static Terminal.Config config;

    public static void main(String[] arguments) throws IOException {
        recorded = Files.readAllLines(Path.of("test/input.txt"));
        config = new Terminal.Config(Json.parse(recorded.get(0)));
        everyTurnGetsAnAnswerThatCanBeCarriedOut();
        scoutsWaitUntilThereAreEnough();
        whatCannotBeBuiltIsNotOrdered();
        aFrameSaysWhatHappened();
        jsonIsReadAndWhatIsNoneIsRefused();
        System.out.println("ok");
    }

    private static void everyTurnGetsAnAnswerThatCanBeCarriedOut() throws IOException {
        List<String> answers = play(recorded);
        List<String> turns = recorded.stream().filter(line -> line.startsWith("{\"turnInfo\":[0,")).toList();
        same(answers.size(), turns.size());
        for (int number = 0; number < turns.size(); number++) {
            Terminal.Turn turn = new Terminal.Turn(config, Json.parse(turns.get(number)));
            Set<Terminal.Tile> taken = new HashSet<>(turn.structures.keySet());
            for (Object order : orders(answers.get(number), 0)) {
                if (name(order).equals(config.upgrade)) continue;
                check(tile(order).inside() && tile(order).y() <= 13, "in our own half: " + order);
                check(taken.add(tile(order)), "on a free tile: " + order);
                turn.structurePoints -= config.cost(name(order));
            }
            for (Object order : orders(answers.get(number), 1)) {
                Terminal.Tile tile = tile(order);
                check(tile.x() + tile.y() == 13 || tile.x() - tile.y() == 14, "on our own edge: " + order);
                check(!taken.contains(tile), "on a free tile: " + order);
                turn.mobilePoints -= config.cost(name(order));
            }
            check(turn.structurePoints >= 0 && turn.mobilePoints >= 0, "with points we have");
        }
    }

    private static void scoutsWaitUntilThereAreEnough() throws IOException {
        same(orders(play(List.of(recorded.get(0), withPoints(0, 9))).get(0), 1).size(), 0);
        check(orders(play(List.of(recorded.get(0), withPoints(0, 10))).get(0), 1).size() > 2, "scouts come");
    }

    private static void whatCannotBeBuiltIsNotOrdered() {
        Terminal.Turn turn = new Terminal.Turn(config, Json.parse(withPoints(9, 2)));
        check(turn.build(config.turret, 12, 13) && turn.upgrade(12, 13), "built and upgraded");
        check(!turn.build(config.turret, 12, 13), "taken");
        check(!turn.build(config.turret, 14, 14), "not our half");
        check(!turn.upgrade(12, 13) && !turn.upgrade(13, 13), "upgraded, or nothing there");
        same(turn.deploy(config.scout, 13, 0, 5), 2);
        same(turn.deploy(config.scout, 13, 1, 5), 0);
        same(turn.answer(), "[[\"DF\",12,13],[\"UP\",12,13]]\n[[\"PI\",13,0],[\"PI\",13,0]]\n");
    }

    private static void aFrameSaysWhatHappened() {
        Terminal.Frame frame = new Terminal.Frame(config, Json.parse("""
                {"turnInfo":[1,4,7,99],"p1Stats":[29.0,0,0,0],"p2Stats":[30.0,0,0,0],
                "p1Units":[[],[],[],[[13,1,42.7,"36"]],[],[],[],[]],"p2Units":[[],[],[],[],[],[],[],[]],
                "events":{"breach":[[[20,6],1,3,"9",2]],"attack":[[[3,12],[3,14],5.0,2,"1","22",1]]}}"""));
        same(frame.turn + " " + frame.number + " " + frame.health, "4 7 29.0");
        same(frame.mobiles, List.of(new Terminal.Mobile(1, "PI", new Terminal.Tile(13, 1), 42.7, "36")));
        same(frame.breaches, List.of(new Terminal.Event(new Terminal.Tile(20, 6), null, 1, "PI", "9", "", 2)));
        same(frame.attacks.get(0).to(), new Terminal.Tile(3, 14));
        same(frame.attacks.get(0).target(), "22");
        // Then the right side is upgraded first.
        Strategy strategy = new Strategy();
        strategy.frame(config, frame);
        Terminal.Turn turn = new Terminal.Turn(config, Json.parse(withPoints(200, 0)));
        strategy.turn(config, turn);
        check(turn.answer().contains("[\"EF\",14,4],[\"UP\",14,11]"), turn.answer());
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

    /** The answers to some lines, each of two lines. */
    private static List<String> play(List<String> lines) throws IOException {
        List<String> answers = new ArrayList<>();
        Terminal.talk(new Strategy(), new StringReader(String.join("\n", lines)), answers::add);
        return answers;
    }

    /** The first deploy line with other points. */
    private static String withPoints(int structure, int mobile) {
        String points = "\"p1Stats\":[30.0," + structure + ".0," + mobile + ".0,";
        return recorded.get(1).replace("\"p1Stats\":[30.0,40.0,5.0,", points);
    }

    private static List<?> orders(String answer, int line) {
        return Json.list(Json.parse(answer.split("\n")[line]));
    }

    private static String name(Object order) {
        return Json.text(Json.at(order, 0));
    }

    private static Terminal.Tile tile(Object order) {
        return new Terminal.Tile((int) Json.number(Json.at(order, 1)), (int) Json.number(Json.at(order, 2)));
    }

    private static void same(Object got, Object wanted) {
        check(got == null ? wanted == null : got.equals(wanted), got + ", not " + wanted);
    }

    private static void check(boolean good, String what) {
        if (!good) throw new AssertionError(what);
    }
}
