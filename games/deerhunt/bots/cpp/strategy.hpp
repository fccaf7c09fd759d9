// What the bot does; see strategy.cpp.
#pragma once

#include <vector>

#include "game.hpp"

// The moves of this half-turn, at most one for each unit.
std::vector<Move> decide(const State& state);
