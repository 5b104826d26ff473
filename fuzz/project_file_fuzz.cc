// Any bytes as a project file: refused with place and cause, or a project whose two sides are known and whose parts
// agree with each other.
#include <algorithm>

#include "fuzz/memory_file.h"
#include "paritas/project/project.h"

namespace {

using namespace paritas;

void check_side(const ProjectSide& side) {
  require(side.target.empty() == side.recording.has_value());
  if (side.recording) require(!side.recording->path.empty());
}

void check_input(const ProjectInput& input) {
  const bool files = input.source == InputSource::kFiles || input.source == InputSource::kImages;
  require(files == !input.files.empty());
  require((input.source == InputSource::kImages) == input.steps.has_value());
  if (input.source == InputSource::kValue) require(input.dtype.has_value() && input.shape.has_value());
  if (input.source == InputSource::kNone) require(input.quantisation.has_value());
  if (input.shape) require(element_count(*input.shape).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto project = parse_project(text, "paritas.toml");
  if (!project) {
    require(!project.error().cause.empty());
    return 0;
  }
  check_side(project->reference);
  check_side(project->device);
  require(project->sha256.size() == 64);
  require(project->gates.empty() == project->gates.sha256.empty());
  require(!project->runs_anything() || !project->model.reference.empty());
  for (const ProjectInput& input : project->inputs) check_input(input);
  for (const ProjectTask& task : project->tasks) require(!task.name.empty());
  for (const ProjectOutput& output : project->outputs)
    require(output.role.empty() || std::count(known_roles().begin(), known_roles().end(), output.role) == 1);
  return 0;
}
