// Plays Deerhunt over TCP, as the bots of its contest do. What it decides is in strategy.cpp.
//
// `./bot --lines` speaks the same messages over standard input and output, one per line: with a pipe instead of a socket
// there is less between you and a debugger.
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include "framed.hpp"
#include "game.hpp"
#include "strategy.hpp"

// The answer to a state: the list of moves.
std::string answer(const std::string& message) {
    State state(message);
    std::string moves;
    for (const Move& move : decide(state)) moves += (moves.empty() ? "" : ", ") + move.json();
    return "[" + moves + "]";
}

void over_lines() {
    for (std::string line; std::getline(std::cin, line);) std::cout << answer(line) << std::endl;  // endl flushes
}

void over_tcp(const std::string& address) {
    Framed connection(address);
    for (std::string message; connection.receive(message);) connection.send(answer(message));  // until the match is over
}

int main(int count, char** arguments) {
    try {
        const char* address = std::getenv("AGON_ADDRESS");
        if (count > 1 && std::string(arguments[1]) == "--lines") {
            over_lines();
        } else if (count > 1 || address) {
            over_tcp(count > 1 ? arguments[1] : address);
        } else {
            std::cerr << "where is the referee? ./bot HOST:PORT, or AGON_ADDRESS=HOST:PORT, or ./bot --lines" << std::endl;
            return 2;
        }
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
