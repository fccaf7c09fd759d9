import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The messages of Jungle Blitz as named types. {@code agon docs jungle-blitz} describes every field. */
final class Game {
    private Game() {}

    record Position(int x, int y) {
        int distance(Position other) {
            return Math.abs(x - other.x) + Math.abs(y - other.y);
        }

        List<Position> neighbours() {
            return List.of(new Position(x, y - 1), new Position(x, y + 1), new Position(x - 1, y), new Position(x + 1, y));
        }
    }

    enum Tile { EMPTY, WALL, SPAWN }

    /**
     * @param position null before it has spawned
     * @param path the tiles it will still walk
     * @param diamondId null without one
     * @param vinedBy the unit that pulled it in the last tick; null if none did
     * @param attackedBy the unit that killed it in the last tick; null if none did
     */
    record Unit(String id, String teamId, boolean hasSpawned, Position position, List<Position> path,
            String diamondId, boolean isSummoning, String vinedBy, String attackedBy) {}

    /** @param errors what was wrong with its last command */
    record Team(String id, String name, int score, boolean isDead, List<String> errors, List<Unit> units) {}

    /**
     * @param level from 1 to 5
     * @param points what it is worth when it is dropped
     * @param ownerId the unit that holds it; null if none does
     */
    record Diamond(String id, Position position, int level, int points, String ownerId) {}

    /** What a unit should do; target is null where there is none. */
    record Action(String unitId, String name, Position target) {
        String json() {
            String where = target == null ? "null" : "{\"x\":" + target.x() + ",\"y\":" + target.y() + "}";
            return "{\"type\":\"UNIT\",\"action\":\"" + name + "\",\"unitId\":" + Json.quoted(unitId) + ",\"target\":" + where + "}";
        }
    }

    /** The whole map is visible. */
    static final class Tick {
        /** From 0; the last is {@code total - 1}. */
        final int number, total;
        final Tile[][] tiles;
        final List<Diamond> diamonds = new ArrayList<>();
        final List<Team> teams = new ArrayList<>();
        final String teamId;
        /** The ids of the teams in the order they play, for this tick and the next ones. */
        final Map<Integer, List<String>> orders = new HashMap<>();

        Tick(String message) {
            Object raw = Json.parse(message);
            number = whole(Json.at(raw, "tick"));
            total = whole(Json.at(raw, "totalTick"));
            tiles = Json.list(Json.at(raw, "map", "tiles")).stream()
                    .map(column -> Json.list(column).stream().map(tile -> Tile.valueOf(Json.text(tile))).toArray(Tile[]::new))
                    .toArray(Tile[][]::new);
            for (Object diamond : Json.list(Json.at(raw, "map", "diamonds"))) {
                diamonds.add(new Diamond(
                        Json.text(Json.at(diamond, "id")),
                        position(Json.at(diamond, "position")),
                        whole(Json.at(diamond, "summonLevel")),
                        whole(Json.at(diamond, "points")),
                        (String) Json.at(diamond, "ownerId")));
            }
            for (Object team : Json.list(Json.at(raw, "teams"))) {
                teams.add(new Team(
                        Json.text(Json.at(team, "id")),
                        Json.text(Json.at(team, "name")),
                        whole(Json.at(team, "score")),
                        isTrue(Json.at(team, "isDead")),
                        Json.list(Json.at(team, "errors")).stream().map(Json::text).toList(),
                        Json.list(Json.at(team, "units")).stream().map(Tick::unit).toList()));
            }
            teamId = Json.text(Json.at(raw, "teamId"));
            if (Json.at(raw, "teamPlayOrderings") instanceof Map<?, ?> orderings) {
                orderings.forEach((tick, order) ->
                        orders.put(Integer.valueOf((String) tick), Json.list(order).stream().map(Json::text).toList()));
            }
        }

        /** Your own team. */
        Team me() {
            return teams.stream().filter(team -> team.id().equals(teamId)).findFirst().orElseThrow();
        }

        /** All units of all teams. */
        List<Unit> units() {
            return teams.stream().flatMap(team -> team.units().stream()).toList();
        }

        /** The tile there; a wall outside the map. */
        Tile tile(Position at) {
            boolean inside = at.x() >= 0 && at.x() < tiles.length && at.y() >= 0 && at.y() < tiles[0].length;
            return inside ? tiles[at.x()][at.y()] : Tile.WALL;
        }

        /** All spawn tiles. */
        List<Position> spawns() {
            List<Position> spawns = new ArrayList<>();
            for (int x = 0; x < tiles.length; x++) {
                for (int y = 0; y < tiles[x].length; y++) {
                    if (tiles[x][y] == Tile.SPAWN) spawns.add(new Position(x, y));
                }
            }
            return spawns;
        }

        private static Unit unit(Object raw) {
            return new Unit(
                    Json.text(Json.at(raw, "id")),
                    Json.text(Json.at(raw, "teamId")),
                    isTrue(Json.at(raw, "hasSpawned")),
                    position(Json.at(raw, "position")),
                    Json.list(Json.at(raw, "path")).stream().map(Tick::position).toList(),
                    (String) Json.at(raw, "diamondId"),
                    isTrue(Json.at(raw, "isSummoning")),
                    (String) Json.at(raw, "lastState", "wasVinedBy"),
                    (String) Json.at(raw, "lastState", "wasAttackedBy"));
        }

        private static Position position(Object raw) {
            return raw == null ? null : new Position(whole(Json.at(raw, "x")), whole(Json.at(raw, "y")));
        }

        private static int whole(Object raw) {
            return (int) Json.number(raw);
        }

        private static boolean isTrue(Object raw) {
            return Boolean.TRUE.equals(raw);
        }
    }
}
