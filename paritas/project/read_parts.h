// Readers of the larger parts of a project file. Internal to project.
#pragma once

#include <string>
#include <vector>

#include "paritas/project/project.h"
#include "paritas/task/spec_reader.h"

namespace paritas {

// `where` names the place in errors: "paritas.toml, [model]".
Result<SpecReader> table(const Json& json, const std::string& where);
Status flag(SpecReader& reader, const char* key, bool& value);
std::string joined(const std::vector<std::string>& words);

Result<std::vector<ProjectInput>> read_inputs(const Json& json, const std::string& subject);
Result<ProjectRecording> read_recording(const Json& json, const std::string& where);
Result<std::vector<ProjectTask>> read_tasks(const Json& json, const std::string& subject);
Result<std::vector<ProjectStep>> read_steps(const Json& json, const std::string& subject);

}  // namespace paritas
