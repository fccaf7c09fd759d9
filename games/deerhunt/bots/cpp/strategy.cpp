// Workers mine, everybody hits adjacent enemies, melees hold the centre.
// `agon rules deerhunt` shows the rules; what a state holds is in game.hpp.
#include "strategy.hpp"

#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>

using Place = std::pair<int, int>;  // x and y

struct Step {
    const char* word;
    int dx, dy;
};

const Step STEPS[] = {{"UP", 0, -1}, {"DOWN", 0, 1}, {"LEFT", -1, 0}, {"RIGHT", 1, 0}};

// The first step of a shortest way to one of the goals, around walls and units; none if there is no way.
static const Step* step_towards(Place from, const std::function<bool(Place)>& is_goal, const std::function<bool(Place)>& is_free) {
    std::set<Place> seen = {from};
    std::deque<std::pair<Place, const Step*>> open = {{from, nullptr}};
    for (; !open.empty(); open.pop_front()) {
        auto [at, first] = open.front();
        for (const Step& step : STEPS) {
            Place to = {at.first + step.dx, at.second + step.dy};
            if (seen.count(to) || !is_free(to)) continue;
            if (is_goal(to)) return first ? first : &step;
            seen.insert(to);
            open.push_back({to, first ? first : &step});
        }
    }
    return nullptr;
}

std::vector<Move> decide(const State& state) {
    std::set<Place> taken;
    std::map<Place, int> health;  // of the enemies, less what we hit them for already
    for (const Unit& unit : state.mine) taken.insert({unit.x, unit.y});
    for (const Unit& unit : state.theirs) {
        taken.insert({unit.x, unit.y});
        health[{unit.x, unit.y}] = unit.health.value_or(1);
    }
    Place middle = {state.map.empty() ? 0 : int(state.map[0].size()) / 2, int(state.map.size()) / 2};
    auto is_free = [&](Place at) { return state.tile(at.first, at.second) != 'X' && !taken.count(at); };
    auto is_resource = [&](Place at) { return state.tile(at.first, at.second) == 'R'; };
    auto is_centre = [&](Place at) { return std::abs(at.first - middle.first) + std::abs(at.second - middle.second) <= 2; };

    // A unit hits what stands beside it. Under the document's rules, whose units have health, only melees can.
    auto hit = [&](const Unit& unit) -> const Step* {
        if (unit.type != "melee" && unit.health) return nullptr;
        for (const Step& step : STEPS) {
            auto enemy = health.find({unit.x + step.dx, unit.y + step.dy});
            if (enemy != health.end() && enemy->second > 0) {
                enemy->second -= 1;
                return &step;
            }
        }
        return nullptr;
    };

    std::vector<Move> moves;
    for (const Unit& unit : state.mine) {
        if (unit.busy > 0) continue;
        Place here = {unit.x, unit.y};
        bool works = unit.type == "worker";
        if (const Step* step = hit(unit)) {
            moves.push_back({unit.id, {"ATTACK", step->word}});
        } else if (works && is_resource(here)) {
            moves.push_back({unit.id, {"MINE"}});
        } else if (works || !is_centre(here)) {
            const Step* way = works ? step_towards(here, is_resource, is_free) : step_towards(here, is_centre, is_free);
            if (!way) continue;
            taken.erase(here);
            taken.insert({unit.x + way->dx, unit.y + way->dy});
            moves.push_back({unit.id, {way->word}});
        }
    }
    return moves;
}
