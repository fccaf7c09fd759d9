// Feeds the bot recorded states and small situations.
// Run it with: g++ -std=c++17 -Wall -o test/run test/test.cpp strategy.cpp && test/run
//
// test/input.txt is what a bot in seat 1 really read: the first half-turns of a match. Take one of your own:
// agon replay export FILE.replay --input --seat 1 > test/input.txt
#define main bot_main  // the bot's own
#include "../bot.cpp"
#undef main

#include <fstream>
#include <set>
#include <sstream>

int failures = 0;

void check(bool good, const std::string& what) {
    if (good) return;
    std::cout << "FAILED: " << what << "\n";
    failures += 1;
}

void expect(const std::string& got, const std::string& wanted) { check(got == wanted, got + ", not " + wanted); }

// Runs the bot's main on `input`, in lines, and gives what it prints.
std::string play(const std::string& input) {
    std::istringstream in(input);
    std::ostringstream out;
    auto* old_in = std::cin.rdbuf(in.rdbuf());
    auto* old_out = std::cout.rdbuf(out.rdbuf());
    std::cin.clear();
    char bot[] = "bot", lines[] = "--lines";
    char* arguments[] = {bot, lines};
    int code = bot_main(2, arguments);
    std::cin.rdbuf(old_in);
    std::cout.rdbuf(old_out);
    check(code == 0, "it ends well");
    return out.str();
}

void recorded_match() {
    std::ifstream file("test/input.txt");
    std::stringstream whole;
    whole << file.rdbuf();
    std::istringstream input(whole.str()), answers(play(whole.str()));
    int turns = 0;
    std::string message, line;
    for (; std::getline(input, message); ++turns) {
        State state(message);
        check(bool(std::getline(answers, line)), "an answer to half-turn " + std::to_string(turns));
        std::set<int> own, moved;
        for (const Unit& unit : state.mine) own.insert(unit.id);
        json::Value moves = json::parse(line);
        for (const auto& move : moves.items) {
            check(own.count(move[0].whole()), "only units of ours: " + line);
            check(moved.insert(move[0].whole()).second, "each unit once: " + line);
        }
        check(!moved.empty(), "somebody does something");
    }
    check(turns > 0, "test/input.txt is there; run the test from the bot's folder");
    check(!std::getline(answers, line), "nothing after the last half-turn");
}

// The moves on a small map of text; the units have one health each.
std::string position(std::vector<std::string> rows, std::vector<Unit> units, std::vector<Unit> enemies = {}) {
    State state(R"({"map": [], "my_units": [], "their_units": [], "my_resources": 0, "turns_left": 9})");
    state.map = rows, state.mine = units, state.theirs = enemies;
    std::string said;
    for (const Move& move : decide(state)) said += move.json();
    return said;
}

void what_a_unit_says_is_read() {
    State state(R"({"map": [["X", " "], ["R", " "]], "my_units": [{"type": "worker", "mining_status": 2, "x": 1, "y": 0, "id": 7}],
        "their_units": [{"type": "melee", "hp": 3, "stun_status": 0, "x": 1, "y": 1, "id": 9}], "my_resources": 75, "turns_left": 8})");
    check(state.tile(0, 0) == 'X' && state.tile(0, 1) == 'R' && state.tile(2, 0) == 'X', "the map");
    check(state.mine[0].busy == 2 && !state.mine[0].health, "a worker that mines");
    check(state.theirs[0].busy == 0 && state.theirs[0].health == 3, "a melee with health");
    check(state.resources == 75 && state.turns_left == 8, "the numbers");
}

int main() {
    recorded_match();
    what_a_unit_says_is_read();
    std::vector<std::string> rows = {"XXXXX", "X  RX", "XXXXX"};
    // A worker walks to a resource, and mines it; while it mines it is left alone.
    expect(position(rows, {{1, "worker", 1, 1, 1, 0}}), R"([1, ["RIGHT"]])");
    expect(position(rows, {{1, "worker", 3, 1, 1, 0}}), R"([1, ["MINE"]])");
    expect(position(rows, {{1, "worker", 3, 1, 1, 2}}), "");
    // A melee hits what stands beside it; a worker with health cannot.
    expect(position(rows, {{1, "melee", 1, 1, 1, 0}}, {{2, "worker", 2, 1, 1, 0}}), R"([1, ["ATTACK", "RIGHT"]])");
    expect(position(rows, {{1, "worker", 1, 1, 1, 0}}, {{2, "worker", 2, 1, 1, 0}}), "");
    expect(position(rows, {{1, "worker", 1, 1, {}, 0}}, {{2, "worker", 2, 1, {}, 0}}), R"([1, ["ATTACK", "RIGHT"]])");
    std::cout << (failures ? "" : "ok\n");
    return failures ? 1 : 0;
}
