// Feeds the bot a recorded match and small positions.
// Run it with: g++ -std=c++17 -Wall -o test/run test/test.cpp && test/run
//
// test/input.txt is what a bot in seat 1 really read: the first turns of a match. Take one of your own:
// agon replay export FILE.replay --input --seat 1 > test/input.txt
#define main bot_main  // the bot's own
#include "../bot.cpp"
#undef main

#include <fstream>
#include <sstream>

int failures = 0;

void check(bool good, const std::string& what) {
    if (good) return;
    std::cout << "FAILED: " << what << "\n";
    failures += 1;
}

void expect(const std::string& got, const std::string& wanted) { check(got == wanted, got + ", not " + wanted); }

// The answer on a small board. Each unit is {id, leads, hp, x, y, owner}.
std::string position(int me, std::vector<Unit> units, std::vector<std::pair<int, int>> walls = {}) {
    Board board{me, 13, 7, std::vector<std::string>(7, std::string(13, '.'))};
    for (auto& wall : walls) board.rows[wall.second][wall.first] = 'x';
    return answer(board, units);
}

// Runs the bot's main on `input` and gives what it prints.
std::string play(const std::string& input) {
    std::istringstream in(input);
    std::ostringstream out;
    auto* old_in = std::cin.rdbuf(in.rdbuf());
    auto* old_out = std::cout.rdbuf(out.rdbuf());
    std::cin.clear();
    bot_main();
    std::cin.rdbuf(old_in);
    std::cout.rdbuf(old_out);
    return out.str();
}

bool legal(const std::string& line, const std::vector<Unit>& units) {
    if (line == "WAIT") return true;
    std::istringstream words(line);
    int id, first, second;
    std::string order;
    words >> id >> order >> first;
    const Unit *unit = nullptr, *target = nullptr;
    for (const Unit& u : units) {
        if (u.id == id) unit = &u;
        if (u.id == first) target = &u;
    }
    if (!unit || unit->owner != 0) return false;
    if (order == "MOVE") return words >> second && first >= 0 && first < 13 && second >= 0 && second < 7;
    return order == (unit->leads ? "CONVERT" : "SHOOT") && target && target->owner != 0;
}

void recorded_match() {
    std::ifstream file("test/input.txt");
    std::stringstream whole;
    whole << file.rdbuf();
    std::istringstream input(whole.str()), answers(play(whole.str()));
    int me, width, height, count, turns = 0;
    input >> me >> width >> height;
    std::string line;
    for (int row = 0; row < height; ++row) input >> line;
    for (; input >> count; ++turns) {
        std::vector<Unit> units(count);
        for (auto& u : units) input >> u.id >> u.leads >> u.hp >> u.x >> u.y >> u.owner;
        check(bool(std::getline(answers, line)), "an answer to turn " + std::to_string(turns));
        check(legal(line, units), line + " in turn " + std::to_string(turns));
    }
    check(turns > 0, "test/input.txt is there; run the test from the bot's folder");
    check(!std::getline(answers, line), "nothing after the last turn");
}

int main() {
    recorded_match();
    // A neighbour is converted.
    expect(position(0, {{0, 1, 10, 3, 3, 0}, {5, 0, 10, 4, 3, 2}}), "0 CONVERT 5");
    // An enemy in range is shot, but not through a wall.
    std::vector<Unit> units = {{1, 1, 10, 12, 3, 1}, {9, 0, 10, 8, 3, 1}, {0, 1, 10, 5, 3, 0}};
    expect(position(1, units), "9 SHOOT 0");
    expect(position(1, units, {{6, 3}}), "9 MOVE 5 3");
    // A lone leader waits.
    expect(position(0, {{0, 1, 10, 3, 3, 0}, {1, 1, 10, 12, 3, 1}}), "WAIT");
    std::cout << (failures ? "" : "ok\n");
    return failures ? 1 : 0;
}
