import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A small keeper: fetch the nearest diamond, raise it while nobody is near, drop it when an enemy comes or the match
 * ends. {@code agon rules jungle-blitz} shows the rules; what a tick holds is in Game.java.
 */
final class Brain {
    private Brain() {}

    private static final int HIGHEST = 3;
    private static final int NEAR = 3;

    /** The actions of this tick, at most one for each unit. */
    static List<Game.Action> decide(Game.Tick tick) {
        List<Game.Diamond> free = new ArrayList<>(tick.diamonds);
        free.removeIf(diamond -> diamond.ownerId() != null);
        List<Game.Action> actions = new ArrayList<>();
        for (Game.Unit unit : tick.me().units()) {
            if (!unit.hasSpawned()) {
                actions.add(spawn(unit, tick, free));
            } else if (unit.diamondId() != null) {
                actions.add(hold(unit, tick));
            } else if (free.isEmpty()) {
                actions.add(new Game.Action(unit.id(), "NONE", null));
            } else {
                Game.Diamond nearest = nearest(unit.position(), free);
                free.remove(nearest);
                actions.add(new Game.Action(unit.id(), "MOVE", nearest.position()));
            }
        }
        return actions;
    }

    /** With a diamond in hand. */
    private static Game.Action hold(Game.Unit unit, Game.Tick tick) {
        Game.Diamond diamond = tick.diamonds.stream().filter(d -> d.id().equals(unit.diamondId())).findFirst().orElseThrow();
        Set<Game.Position> taken = new HashSet<>();
        boolean danger = false;
        for (Game.Unit other : tick.units()) {
            if (!other.hasSpawned()) continue;
            taken.add(other.position());
            danger |= !other.teamId().equals(unit.teamId()) && other.position().distance(unit.position()) <= NEAR;
        }
        boolean drop = tick.number == tick.total - 1 || danger && diamond.points() > 0;
        if (drop && !unit.isSummoning()) {
            for (Game.Position at : unit.position().neighbours()) {
                if (tick.tile(at) == Game.Tile.EMPTY && !taken.contains(at)) return new Game.Action(unit.id(), "DROP", at);
            }
        }
        boolean raise = diamond.level() < HIGHEST && !unit.isSummoning() && !danger;
        return new Game.Action(unit.id(), raise ? "SUMMON" : "NONE", null);
    }

    /** A spawn tile near a diamond. Units take different ones, so that they do not stand in each other's way. */
    private static Game.Action spawn(Game.Unit unit, Game.Tick tick, List<Game.Diamond> free) {
        List<Game.Position> spawns = new ArrayList<>(tick.spawns());
        spawns.sort(Comparator.comparing(at -> free.isEmpty() ? 0 : nearest(at, free).position().distance(at)));
        int choice = tick.me().units().indexOf(unit) % Math.min(spawns.size(), 4);
        return new Game.Action(unit.id(), "SPAWN", spawns.get(choice));
    }

    private static Game.Diamond nearest(Game.Position from, List<Game.Diamond> diamonds) {
        return diamonds.stream().min(Comparator.comparing(diamond -> diamond.position().distance(from))).orElseThrow();
    }
}
