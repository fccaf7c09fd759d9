// What the bot does; see brain.cpp.
#pragma once

#include <vector>

#include "game.hpp"

// The actions of this tick, at most one for each unit.
std::vector<Action> decide(const Tick& tick);
