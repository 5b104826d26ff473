#include "paritas/cli/command_line.h"

#include <filesystem>

namespace paritas::cli {
namespace {

std::vector<std::string>& words() {
  static std::vector<std::string> given;
  return given;
}

}  // namespace

void remember_command_line(int argc, char** argv) {
  words().assign(argv, argv + argc);
  if (!words().empty()) words().front() = std::filesystem::path(words().front()).filename().string();
}

const std::vector<std::string>& command_line() { return words(); }

}  // namespace paritas::cli
