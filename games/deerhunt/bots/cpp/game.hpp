// The messages of Deerhunt as named types. `agon docs deerhunt` describes every field.
#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "json.hpp"

struct Unit {
    int id;
    std::string type;  // worker or melee
    int x, y;
    std::optional<int> health;  // under the rules of the document only
    int busy;                   // half-turns until it can act again: it mines, duplicates or is stunned
};

// What you see before one of your half-turns.
struct State {
    std::vector<std::string> map;  // map[y][x]: 'X' wall, 'R' resource, ' ' ground; units are not on it
    std::vector<Unit> mine;
    std::vector<Unit> theirs;  // those you see
    int resources;
    int turns_left;

    explicit State(const std::string& message) {
        const json::Value raw = json::parse(message);
        if (raw["map"].kind != json::Value::List) throw std::runtime_error("this is no state: " + message);
        for (const auto& row : raw["map"].items) {
            map.emplace_back();
            for (const auto& tile : row.items) map.back() += tile.text.empty() ? ' ' : tile.text[0];
        }
        for (const auto& one : raw["my_units"].items) mine.push_back(unit(one));
        for (const auto& one : raw["their_units"].items) theirs.push_back(unit(one));
        resources = raw["my_resources"].whole();
        turns_left = raw["turns_left"].whole();
    }

    // The tile there; a wall outside the map.
    char tile(int x, int y) const {
        bool inside = y >= 0 && y < int(map.size()) && x >= 0 && x < int(map[y].size());
        return inside ? map[y][x] : 'X';
    }

private:
    static Unit unit(const json::Value& raw) {
        int busy = std::max({raw["mining_status"].whole(), raw["duplication_status"].whole(), raw["stun_status"].whole()});
        std::optional<int> health;
        if (!raw["hp"].is_null()) health = raw["hp"].whole();
        return {raw["id"].whole(), raw["type"].text, raw["x"].whole(), raw["y"].whole(), health, busy};
    }
};

// A unit and what it does: {3, {"UP"}}, {3, {"ATTACK", "LEFT"}}, {3, {"MINE"}}.
struct Move {
    int unit;
    std::vector<std::string> words;

    std::string json() const {
        std::string list;
        for (const auto& word : words) list += (list.empty() ? "" : ", ") + json::quoted(word);
        return "[" + std::to_string(unit) + ", [" + list + "]]";
    }
};
