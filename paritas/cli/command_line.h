// The words with which this process was started, for results that say how they were made.
#pragma once

#include <string>
#include <vector>

namespace paritas::cli {

void remember_command_line(int argc, char** argv);
const std::vector<std::string>& command_line();

}  // namespace paritas::cli
