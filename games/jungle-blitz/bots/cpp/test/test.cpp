// Feeds the bot recorded ticks and small situations.
// Run it with: g++ -std=c++17 -Wall -o test/run test/test.cpp brain.cpp && test/run
//
// test/input.txt is what a bot in seat 1 really read: the first ticks of a match. Take one of your own:
// agon replay export FILE.replay --input --seat 1 > test/input.txt
#define main bot_main  // the bot's own
#include "../bot.cpp"
#undef main

#include <fstream>
#include <sstream>

int failures = 0;
std::vector<std::string> recorded;

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

void every_tick_gets_its_command() {
    std::string input;
    for (const auto& line : recorded) input += line + "\n";
    std::istringstream said(play(input));
    std::string line;
    std::getline(said, line);
    expect(json::parse(line)["type"].text, "REGISTER");
    for (const auto& message : recorded) {
        check(bool(std::getline(said, line)), "a command for each tick");
        json::Value command = json::parse(line);
        Tick tick(message);
        expect(command["type"].text, "COMMAND");
        check(command["tick"].whole() == tick.number, "for the same tick");
        const auto& actions = command["actions"].items;
        check(actions.size() == tick.me().units.size(), "one action for each unit of ours");
        for (std::size_t i = 0; i < actions.size(); ++i) expect(actions[i]["unitId"].text, tick.me().units[i].id);
    }
    check(!std::getline(said, line), "nothing after the last tick");
}

void units_come_up_on_spawn_tiles() {
    Tick tick(recorded[0]);
    for (const Action& action : decide(tick)) {
        expect(action.name, "SPAWN");
        check(action.target && tick.tile(*action.target) == Tile::Spawn, "a spawn tile");
    }
}

void a_unit_walks_to_a_diamond() {
    Tick tick(recorded[1]);
    Action action = decide(tick)[0];
    expect(action.name, "MOVE");
    bool there = false;
    for (const Diamond& diamond : tick.diamonds) there |= action.target == diamond.position;
    check(there, "a diamond is there");
}

// What the first unit does that holds a diamond at (1, 1) of an open map, with an enemy somewhere.
std::string holding(int number, Position enemy_at) {
    Tick tick(recorded[1]);
    tick.number = number;
    for (auto& column : tick.tiles) column.assign(column.size(), Tile::Empty);
    Diamond& diamond = tick.diamonds[0];
    for (Team& team : tick.teams) {
        bool own = team.id == tick.team_id;
        team.units.resize(1);
        Unit& unit = team.units[0];
        unit.has_spawned = true;
        unit.position = own ? Position{1, 1} : enemy_at;
        unit.diamond_id = own ? diamond.id : "";
        if (own) diamond.owner_id = unit.id;
    }
    diamond.position = {1, 1}, diamond.level = 1, diamond.points = 5;
    return decide(tick)[0].name;
}

void a_diamond_is_dropped_when_an_enemy_comes_or_the_match_ends() {
    expect(holding(100, {3, 1}), "DROP");
    expect(holding(299, {9, 9}), "DROP");
    expect(holding(100, {9, 9}), "SUMMON");
}

void json_is_read_and_what_is_none_is_refused() {
    json::Value value = json::parse(" {\"a\": [1, -2.5e1, true, null, \"x\\n\\u00e9\\\"\", []], \"b\": {}} ");
    check(value["a"][1].number == -25, "a number");
    check(value["a"][2].truth, "true");
    expect(value["a"][4].text, "x\n\u00e9\"");
    check(value["a"].items.size() == 6, "six of them");
    check(value["c"]["d"][9].is_null(), "what is not there");
    for (std::string text : {"", "{", "[1,]", "[1 2]", "{\"a\"}", "\"x", "nul", "1 2", "--", "\"\\u12\""}) {
        try {
            json::parse(text);
            check(false, "read: " + text);
        } catch (const std::runtime_error&) {
        }
    }
    try {
        json::parse(std::string(100000, '['));
        check(false, "read far too deep");
    } catch (const std::runtime_error&) {
    }
    expect(json::quoted("a\"\\\n"), "\"a\\\"\\\\\\u000a\"");
}

int main() {
    std::ifstream file("test/input.txt");
    for (std::string line; std::getline(file, line);) recorded.push_back(line);
    if (recorded.size() < 2) {
        std::cout << "test/input.txt is not here; run the test from the bot's folder\n";
        return 1;
    }
    every_tick_gets_its_command();
    units_come_up_on_spawn_tiles();
    a_unit_walks_to_a_diamond();
    a_diamond_is_dropped_when_an_enemy_comes_or_the_match_ends();
    json_is_read_and_what_is_none_is_refused();
    std::cout << (failures ? "" : "ok\n");
    return failures ? 1 : 0;
}
