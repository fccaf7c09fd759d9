// The messages of Jungle Blitz as named types. `agon docs jungle-blitz` describes every field.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "json.hpp"

struct Position {
    int x, y;

    bool operator==(const Position& other) const { return x == other.x && y == other.y; }
    bool operator<(const Position& other) const { return x < other.x || (x == other.x && y < other.y); }
    int distance(const Position& other) const { return std::abs(x - other.x) + std::abs(y - other.y); }
    std::vector<Position> neighbours() const { return {{x, y - 1}, {x, y + 1}, {x - 1, y}, {x + 1, y}}; }
};

enum class Tile { Empty, Wall, Spawn };

struct Unit {
    std::string id, team_id;
    bool has_spawned;
    std::optional<Position> position;  // none before it has spawned, and while it is dead
    std::vector<Position> path;        // the tiles it will still walk
    std::string diamond_id;            // empty without one
    bool is_summoning;
};

struct Team {
    std::string id, name;
    int score;
    bool is_dead;
    std::vector<std::string> errors;  // what was wrong with its last command
    std::vector<Unit> units;
};

struct Diamond {
    std::string id;
    Position position;
    int level;             // from 1 to 5
    int points;            // what it is worth when it is dropped
    std::string owner_id;  // the unit that holds it; empty if none does
};

// What a unit is to do: SPAWN, MOVE, SUMMON, DROP, ATTACK, VINE or NONE; all but SUMMON and NONE have a target.
struct Action {
    std::string unit_id, name;
    std::optional<Position> target = std::nullopt;

    std::string json() const {
        std::string where = "null";
        if (target) where = "{\"x\":" + std::to_string(target->x) + ",\"y\":" + std::to_string(target->y) + "}";
        return "{\"type\":\"UNIT\",\"action\":\"" + name + "\",\"unitId\":" + json::quoted(unit_id) + ",\"target\":" + where + "}";
    }
};

// The content of a TICK message: the whole map is visible.
struct Tick {
    int number, total;                     // from 0; the last is total - 1
    std::vector<std::vector<Tile>> tiles;  // tiles[x][y]
    std::vector<Diamond> diamonds;
    std::vector<Team> teams;
    std::string team_id;                              // your own
    std::map<int, std::vector<std::string>> orders;  // the ids of the teams as they play in this tick and the next ones

    explicit Tick(const std::string& message) {
        const json::Value raw = json::parse(message);
        number = raw["tick"].whole();
        total = raw["totalTick"].whole();
        team_id = raw["teamId"].text;
        for (const auto& column : raw["map"]["tiles"].items) {
            tiles.emplace_back();
            for (const auto& tile : column.items) {
                tiles.back().push_back(tile.text == "EMPTY" ? Tile::Empty : tile.text == "SPAWN" ? Tile::Spawn : Tile::Wall);
            }
        }
        for (const auto& diamond : raw["map"]["diamonds"].items) {
            diamonds.push_back({diamond["id"].text, *position(diamond["position"]), diamond["summonLevel"].whole(),
                                diamond["points"].whole(), diamond["ownerId"].text});
        }
        for (const auto& team : raw["teams"].items) {
            teams.push_back({team["id"].text, team["name"].text, team["score"].whole(), team["isDead"].truth, texts(team["errors"]), {}});
            for (const auto& one : team["units"].items) teams.back().units.push_back(unit(one));
        }
        const auto& orderings = raw["teamPlayOrderings"];
        for (const auto& tick : orderings.keys) orders[std::atoi(tick.c_str())] = texts(orderings[tick]);
        me();  // throws here and not later when the message names no team of ours
    }

    // Your own team.
    const Team& me() const {
        for (const auto& team : teams) {
            if (team.id == team_id) return team;
        }
        throw std::runtime_error("the tick has no team " + team_id);
    }

    // All units of all teams.
    std::vector<Unit> units() const {
        std::vector<Unit> all;
        for (const auto& team : teams) all.insert(all.end(), team.units.begin(), team.units.end());
        return all;
    }

    // The diamond with this id, if there is one.
    const Diamond* diamond(const std::string& id) const {
        for (const auto& diamond : diamonds) {
            if (diamond.id == id) return &diamond;
        }
        return nullptr;
    }

    // The tile there; a wall outside the map.
    Tile tile(const Position& at) const {
        bool inside = at.x >= 0 && at.x < int(tiles.size()) && at.y >= 0 && at.y < int(tiles[0].size());
        return inside ? tiles[at.x][at.y] : Tile::Wall;
    }

    // All spawn tiles.
    std::vector<Position> spawns() const {
        std::vector<Position> all;
        for (int x = 0; x < int(tiles.size()); ++x) {
            for (int y = 0; y < int(tiles[x].size()); ++y) {
                if (tiles[x][y] == Tile::Spawn) all.push_back({x, y});
            }
        }
        return all;
    }

private:
    static std::optional<Position> position(const json::Value& raw) {
        if (raw.is_null()) return std::nullopt;
        return Position{raw["x"].whole(), raw["y"].whole()};
    }

    static std::vector<std::string> texts(const json::Value& raw) {
        std::vector<std::string> texts;
        for (const auto& text : raw.items) texts.push_back(text.text);
        return texts;
    }

    static Unit unit(const json::Value& raw) {
        Unit unit{raw["id"].text,       raw["teamId"].text, raw["hasSpawned"].truth, position(raw["position"]), {},
                  raw["diamondId"].text, raw["isSummoning"].truth};
        for (const auto& tile : raw["path"].items) unit.path.push_back(*position(tile));
        return unit;
    }
};
