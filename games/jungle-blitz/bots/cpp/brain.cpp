// A small keeper: fetch the nearest diamond, raise it while nobody is near, drop it when an enemy comes or the match ends.
// `agon rules jungle-blitz` shows the rules; what a tick holds is in game.hpp.
#include "brain.hpp"

#include <algorithm>
#include <set>

const int HIGHEST = 3;
const int NEAR = 3;

// The nearest of these diamonds, if there are any.
static const Diamond* nearest(const Position& from, const std::vector<const Diamond*>& diamonds) {
    const Diamond* best = nullptr;
    for (const Diamond* diamond : diamonds) {
        if (!best || from.distance(diamond->position) < from.distance(best->position)) best = diamond;
    }
    return best;
}

// A spawn tile near a diamond. Units take different ones, so that they do not stand in each other's way.
static Action spawn(const Unit& unit, std::size_t index, const Tick& tick, const std::vector<const Diamond*>& free) {
    auto spawns = tick.spawns();
    if (spawns.empty()) return {unit.id, "NONE"};
    auto far = [&](const Position& at) {
        const Diamond* goal = nearest(at, free);
        return goal ? at.distance(goal->position) : 0;
    };
    std::stable_sort(spawns.begin(), spawns.end(), [&](const Position& a, const Position& b) { return far(a) < far(b); });
    return {unit.id, "SPAWN", spawns[index % std::min<std::size_t>(spawns.size(), 4)]};
}

// With a diamond in hand.
static Action hold(const Unit& unit, const Diamond& diamond, const Tick& tick) {
    std::set<Position> taken;
    bool danger = false;
    for (const Unit& other : tick.units()) {
        if (!other.position) continue;
        taken.insert(*other.position);
        danger |= other.team_id != unit.team_id && other.position->distance(*unit.position) <= NEAR;
    }
    bool drop = tick.number == tick.total - 1 || (danger && diamond.points > 0);
    if (drop && !unit.is_summoning) {
        for (const Position& at : unit.position->neighbours()) {
            if (tick.tile(at) == Tile::Empty && !taken.count(at)) return {unit.id, "DROP", at};
        }
    }
    bool raise = diamond.level < HIGHEST && !unit.is_summoning && !danger;
    return {unit.id, raise ? "SUMMON" : "NONE"};
}

std::vector<Action> decide(const Tick& tick) {
    std::vector<const Diamond*> free;
    for (const Diamond& diamond : tick.diamonds) {
        if (diamond.owner_id.empty()) free.push_back(&diamond);
    }
    std::vector<Action> actions;
    for (const Unit& unit : tick.me().units) {
        const Diamond* held = tick.diamond(unit.diamond_id);
        if (!unit.has_spawned || !unit.position) {
            actions.push_back(spawn(unit, actions.size(), tick, free));
        } else if (held) {
            actions.push_back(hold(unit, *held, tick));
        } else if (const Diamond* goal = nearest(*unit.position, free)) {
            free.erase(std::find(free.begin(), free.end(), goal));
            actions.push_back({unit.id, "MOVE", goal->position});
        } else {
            actions.push_back({unit.id, "NONE"});
        }
    }
    return actions;
}
