// Targets as a package may name them: a package comes from a stranger, and a target can name a library to load.
#pragma once

#include <string>

#include "paritas/runtime/target.h"

namespace paritas {

// The target's text without what names files, libraries or folders: it is to be resolved on another machine.
std::string portable_text(const TargetSpec& spec);

// An error for an option that portable_text() would leave out, but for libraries, which the user names anew.
Status check_portable(const TargetSpec& spec, const std::string& option);

// Provider options and session entries in force, files by name only: a package tells nothing of the folders of the
// machine that made it.
std::map<std::string, std::string> portable_options(const Target& target);

// The text of a manifest as a target. Refuses every option that portable_text() would leave out. Libraries are those of
// this machine: `search.provider_libraries`, by provider, come in where they are given.
Result<TargetSpec> parse_portable(const std::string& text, const RuntimeSearch& search, const std::string& subject);

}  // namespace paritas
