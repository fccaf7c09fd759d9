// Plays Jungle Blitz over WebSocket. What it decides is in brain.cpp.
//
// `./bot --lines` speaks the same messages over standard input and output, one per line: with a pipe instead of a socket
// there is less between you and a debugger.
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include "brain.hpp"
#include "game.hpp"
#include "websocket.hpp"

// The first message. A server that knows its teams gives each a token.
std::string registration() {
    const char* token = std::getenv("TOKEN");
    std::string who = token ? "\"token\":" + json::quoted(token) : "\"teamName\":\"C++ keeper\"";
    return "{\"type\":\"REGISTER\"," + who + "}";
}

// The answer to a TICK message.
std::string answer(const std::string& message) {
    Tick tick(message);
    std::string actions;
    for (const Action& action : decide(tick)) actions += (actions.empty() ? "" : ",") + action.json();
    return "{\"type\":\"COMMAND\",\"tick\":" + std::to_string(tick.number) + ",\"actions\":[" + actions + "]}";
}

void over_lines() {
    std::cout << registration() << std::endl;
    for (std::string line; std::getline(std::cin, line);) std::cout << answer(line) << std::endl;  // endl flushes
}

void over_websocket(const std::string& address) {
    WebSocket socket(address);
    socket.send(registration());
    for (std::string message; socket.receive(message);) socket.send(answer(message));  // until the match is over
}

int main(int count, char** arguments) {
    try {
        const char* address = std::getenv("AGON_ADDRESS");
        if (count > 1 && std::string(arguments[1]) == "--lines") {
            over_lines();
        } else {
            over_websocket(address ? address : "ws://127.0.0.1:8765");
        }
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
