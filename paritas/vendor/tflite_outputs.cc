#include "paritas/vendor/tflite_outputs.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/vendor/raw.h"
#include "paritas/vendor/remedies.h"

namespace paritas {
namespace {

Result<Path> file_of(const Path& path) {
  std::error_code code;
  if (!std::filesystem::is_directory(path, code)) return path;
  PARITAS_ASSIGN(const auto files, list_files(path));
  std::vector<std::string> fitting;
  std::copy_if(files.begin(), files.end(), std::back_inserter(fitting), is_raw_name);
  if (fitting.size() == 1) return path / fitting.front();
  return input_error(path.string(), fmt::format("holds {} .bin and .raw files, one is expected", fitting.size()),
                     "name one in it: --output_filepath=FOLDER/outputs.bin");
}

struct Part {
  std::string name;
  RawLayout layout;
  uint64_t offset = 0;
  uint64_t size = 0;
};

Result<Part> part_of(const std::string& name, const ImportContext& context) {
  const ModelTensor* known = context.model.find(name);
  Part part;
  part.name = name;
  const auto dtype = context.options.dtypes.count(name) != 0 ? context.dtype(name) : known->dtype;
  const auto shape = context.options.shapes.count(name) != 0 ? context.shape(name) : known->shape;
  if (!dtype)
    return input_error(context.model.path(), fmt::format("tells no type of the output \"{}\"", printable(name)),
                       "give it with " + declaration_text(context.options, Declaration::kDtype));
  if (!shape || std::any_of(shape->begin(), shape->end(), [](int64_t dim) { return dim < 0; }))
    return input_error(context.model.path(), fmt::format("tells no fixed shape of the output \"{}\"", printable(name)),
                       "give it with " + declaration_text(context.options, Declaration::kShape));
  PARITAS_ASSIGN(const uint64_t count, element_count(*shape));
  part.layout = {*dtype, *shape};
  part.size = byte_size(*dtype, count);
  return part;
}

}  // namespace

Result<Found> find_tflite_outputs(const Path& given, const ImportContext& context) {
  PARITAS_ASSIGN(const Path path, file_of(given));
  if (context.model.outputs().empty())
    return usage_error(path.string(), "only a model with outputs tells how its bytes are divided",
                       "give it with " + declaration_text(context.options, Declaration::kModel));
  std::vector<Part> parts;
  uint64_t expected = 0;
  for (const std::string& output : context.model.outputs()) {
    PARITAS_ASSIGN(Part part, part_of(output, context));
    part.offset = expected;
    if (__builtin_add_overflow(expected, part.size, &expected))
      return input_error(context.model.path(), "has outputs beyond 2^64 bytes");
    parts.push_back(std::move(part));
  }
  PARITAS_ASSIGN(const auto file, File::open(path));
  if (file->size() != expected)
    return input_error(path.string(),
                       fmt::format("has {} bytes, the {} output{} of {} take {}", file->size(), parts.size(),
                                   parts.size() == 1 ? "" : "s", context.model.path(), expected),
                       "check that the file is whole and the model the one that ran");
  Found found;
  found.format = "tflite-outputs";
  FoundSample sample;
  for (const Part& part : parts) {
    FoundTensor tensor{part.name, Role::kOutput, part.layout.dtype, part.layout.shape, {}};
    tensor.read = [path, part, expected]() -> Result<Tensor> {
      PARITAS_ASSIGN(auto again, File::open(path));
      if (again->size() != expected)
        return input_error(path.string(), "changed while it was read", "do not write to it meanwhile");
      std::vector<std::byte> bytes(part.size);
      PARITAS_TRY(again->read(part.offset, bytes));
      return make_tensor(part.layout.dtype, part.layout.shape, Bytes::in_memory(std::move(bytes)), path.string());
    };
    sample.push_back(std::move(tensor));
  }
  found.samples.push_back(std::move(sample));
  found.notes.push_back("where one output ends is the model's word: the file itself tells neither names nor types");
  return found;
}

}  // namespace paritas
