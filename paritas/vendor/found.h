// What an importer finds before any data is read, and the stream that all of them become.
#pragma once

#include <functional>

#include "paritas/vendor/import.h"
#include "paritas/vendor/model_facts.h"

namespace paritas {

struct FoundTensor {
  std::string name;
  std::optional<Role> role;  // where the format tells; else the model's, and an output when that does not know it
  DType dtype = DType::kF32;
  Shape shape;
  std::function<Result<Tensor>()> read;  // must yield dtype and shape
};

using FoundSample = std::vector<FoundTensor>;

struct Found {
  std::string format;  // as in import_formats()
  std::vector<FoundSample> samples;
  std::vector<std::string> notes;
  std::vector<std::string> sample_names;  // files that the samples come from, without extension; empty: no names
};

// What importers work with: the options, and the facts of the model that they name.
struct ImportContext {
  const ImportOptions& options;
  const ModelFacts& model;                        // empty when none was given
  std::map<std::string, std::string> names = {};  // of options.names: name in the dump -> name to give

  // `name` is the dump's in all of these. A name that was given tells more than one that a tool changed: it goes first.
  const std::string& given(const std::string& name) const;
  ModelMatch match(const std::string& name) const;
  const ModelTensor* known(const std::string& name) const { return match(name).tensor; }
  std::optional<DType> dtype(const std::string& name) const;
  std::optional<Shape> shape(const std::string& name) const;
};

Result<std::map<std::string, std::string>> read_names(const Path& path);

// Checks names (UTF-8, unique within a sample after renaming), gives roles, applies declared types and shapes, and
// refuses declarations that fit no tensor.
Result<std::unique_ptr<SampleStream>> make_stream(const Path& path, Found found, const ImportContext& context);

// For text from files in messages: bytes that are not UTF-8, and control characters, as \xNN.
std::string printable(std::string_view text);
Status check_name(std::string_view name, const std::string& subject);

// Regular files below `folder` (links followed), relative and in natural order (a2 before a10). Refused: names that are
// not UTF-8, links that lead out, two names of one file, more levels or files than any dump has.
Result<std::vector<std::string>> list_files(const Path& folder);
bool natural_less(const std::string& a, const std::string& b);

// Keeps decoded bytes: in a nameless file below options.scratch when they are many, else in memory.
Result<Bytes> keep_decoded(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                           const ImportOptions& options);

}  // namespace paritas
