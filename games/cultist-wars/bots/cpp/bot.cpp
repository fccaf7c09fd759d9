// A greedy Cultist Wars bot: convert, else shoot, else walk. `agon rules cultist-wars` shows the rules.
//
// Above the line: reading the input, which you need not touch. Below it: what the bot does.
// Answers go to standard output, one line per turn. Anything for yourself goes to std::cerr.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

const int NEUTRAL = 2;
const int RANGE = 6;

struct Unit {
    int id, leads, hp, x, y, owner;
};

struct Board {
    int me, width, height;
    std::vector<std::string> rows;  // '.' floor, 'x' obstacle
};

std::string answer(const Board& board, const std::vector<Unit>& units);

int main() {
    Board board;
    std::cin >> board.me >> board.width >> board.height;
    board.rows.resize(board.height);
    for (auto& row : board.rows) std::cin >> row;
    for (int count; std::cin >> count;) {  // until the match is over
        std::vector<Unit> units(count);
        for (auto& u : units) std::cin >> u.id >> u.leads >> u.hp >> u.x >> u.y >> u.owner;
        std::cout << answer(board, units) << std::endl;  // endl flushes
    }
    return 0;
}

// ------------------------------------------------------------------ your strategy

int distance(const Unit& a, const Unit& b) { return std::abs(a.x - b.x) + std::abs(a.y - b.y); }

// Whether nothing stands between a and b; the line is drawn from the upper end (CW-SHOOT-4).
// `taken` is the board with the units on it.
bool clear(const std::vector<std::string>& taken, Unit a, Unit b) {
    if (a.y > b.y) std::swap(a, b);
    int dx = std::abs(b.x - a.x), dy = b.y - a.y, step = a.x < b.x ? 1 : -1, err = dx - dy;
    for (int x = a.x, y = a.y;;) {
        int twice = 2 * err;
        if (twice > -dy) err -= dy, x += step;
        if (twice < dx) err += dx, y += 1;
        if (x == b.x && y == b.y) return true;
        if (taken[y][x] != '.') return false;
    }
}

std::string order(const Unit& unit, const char* verb, const Unit& target) {
    return std::to_string(unit.id) + verb + std::to_string(target.id);
}

// The order of this turn. Exactly one line: `WAIT`, `ID MOVE X Y`, `ID SHOOT TARGET` or `ID CONVERT TARGET`.
std::string answer(const Board& board, const std::vector<Unit>& units) {
    const Unit* leader = nullptr;
    std::vector<Unit> shooters, enemies, wanted;
    auto taken = board.rows;
    for (const Unit& u : units) {
        taken[u.y][u.x] = 'u';
        if (u.owner == board.me && u.leads) leader = &u;
        if (u.owner == board.me && !u.leads) shooters.push_back(u);
        if (u.owner == 1 - board.me) enemies.push_back(u);
        if (u.owner != board.me && !u.leads) wanted.push_back(u);
    }

    // 1. A cultist beside our leader becomes ours, an enemy's rather than a neutral one.
    const Unit* prey = nullptr;
    for (const Unit& u : wanted) {
        if (leader && distance(*leader, u) == 1 && (!prey || u.owner != NEUTRAL)) prey = &u;
    }
    if (prey) return order(*leader, " CONVERT ", *prey);

    // 2. The shot that leaves its victim with the least health, if nothing is in the way.
    int least = std::numeric_limits<int>::max();
    std::string shot;
    for (const Unit& u : shooters) {
        for (const Unit& enemy : enemies) {
            int steps = distance(u, enemy), left = enemy.hp - 7 + steps;
            if (steps <= RANGE && left < least && clear(taken, u, enemy)) {
                least = left;
                shot = order(u, " SHOOT ", enemy);
            }
        }
    }
    if (!shot.empty()) return shot;

    // 3. Our leader goes to the nearest neutral; the referee finds the way.
    for (const Unit& u : wanted) {
        if (!leader || u.owner != NEUTRAL) continue;
        if (!prey || distance(*leader, u) < distance(*leader, *prey)) prey = &u;
    }
    if (prey) return order(*leader, " CONVERT ", *prey);

    // 4. The cultist nearest to an enemy goes there.
    std::string walk = "WAIT";
    for (const Unit& u : shooters) {
        for (const Unit& enemy : enemies) {
            if (distance(u, enemy) < least) {
                least = distance(u, enemy);
                walk = std::to_string(u.id) + " MOVE " + std::to_string(enemy.x) + " " + std::to_string(enemy.y);
            }
        }
    }
    return walk;
}
