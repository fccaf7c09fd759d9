import java.util.List;

/** Run with: java -cp out Tests */
public final class Tests {
    /** The first lines of a match, shortened. */
    private static final String CONFIG = """
            {"unitInformation":[{"shorthand":"FF","cost1":1},{"shorthand":"EF","cost1":4},
            {"shorthand":"DF","cost1":2,"upgrade":{"cost1":5}},{"shorthand":"PI","cost2":1},{"shorthand":"EI","cost2":3},
            {"shorthand":"SI","cost2":1},{"shorthand":"RM"},{"shorthand":"UP"}]}""";

    private static final String DEPLOY = """
            {"turnInfo":[0,3,-1,40],"p1Stats":[30.0,9.0,2.0,0],"p2Stats":[29.0,1.0,7.5,0],
            "p1Units":[[[13,13,60.0,"1"]],[],[],[],[],[],[],[]],
            "p2Units":[[],[],[[14,14,75.0,"2"]],[],[],[],[],[[14,14,0.0,"2"]]],"events":{}}""";

    public static void main(String[] arguments) {
        json();
        turn();
        System.err.println("2 tests passed");
    }

    private static void json() {
        Object value = Json.parse(" {\"a\": [1, -2.5e1, true, null, \"x\\n\\u00e9\\\"\", []], \"b\": {}} ");
        same(Json.at(value, "a", 1), -25.0);
        same(Json.at(value, "a", 2), true);
        same(Json.at(value, "a", 4), "x\n\u00e9\"");
        same(Json.list(Json.at(value, "a")).size(), 6);
        same(Json.at(value, "c", "d", 9), null);
        for (String text : List.of("", "{", "[1,]", "[1 2]", "{\"a\"}", "\"x", "nul", "1 2", "--", "\"\\u12\"", "[".repeat(100_000))) {
            try {
                Json.parse(text);
            } catch (IllegalArgumentException expected) {
                continue;
            }
            throw new AssertionError("read: " + text);
        }
        same(Json.quoted("a\"\\\n"), "\"a\\\"\\\\\\u000a\"");
    }

    private static void turn() {
        Terminal.Config config = new Terminal.Config(Json.parse(CONFIG));
        Terminal.Turn turn = new Terminal.Turn(config, Json.parse(DEPLOY));
        same(turn.number, 3);
        same(turn.enemyMobilePoints, 7.5);
        same(turn.upgraded.contains(new Terminal.Tile(14, 14)), true);
        same(turn.build(config.turret, 13, 13), false);
        same(turn.build(config.turret, 14, 14), false);
        same(turn.build(config.turret, 12, 13) && turn.upgrade(12, 13), true);
        same(turn.upgrade(12, 13) || turn.upgrade(13, 13), false);
        same(turn.deploy(config.scout, 13, 0, 5), 2);
        same(turn.deploy(config.scout, 13, 1, 5), 0);
        same(turn.answer(), "[[\"DF\",12,13],[\"UP\",12,13]]\n[[\"PI\",13,0],[\"PI\",13,0]]\n");
    }

    private static void same(Object got, Object expected) {
        if (got == null ? expected != null : !got.equals(expected)) {
            throw new AssertionError("expected " + expected + ", got " + got);
        }
    }
}
