// For npy_numpy.py: shows how Paritas reads a .npy file, and writes one from bytes.
//   npy_tool dump FILE...                  prints, a line each, dtype, shape and the bytes as hexadecimal text
//   npy_tool write DTYPE DIMS RAW FILE     DIMS like "2,3" ("-" for a scalar); RAW holds little-endian row-major bytes
#include <cstdio>
#include <cstdlib>
#include <string>

#include "paritas/tensor/npy.h"

namespace paritas {
namespace {

int fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message().c_str());
  return 2;
}

int dump(const Path& path) {
  const auto tensor = read_npy(path);
  if (!tensor) return fail(tensor.error());
  const auto view = TensorView::of(*tensor);
  if (!view) return fail(view.error());
  std::printf("%s %s ", std::string(name(view->dtype())).c_str(), to_string(view->shape()).c_str());
  for (std::byte byte : view->bytes()) std::printf("%02x", std::to_integer<unsigned>(byte));
  std::printf("\n");
  return 0;
}

int write(const std::string& dtype_name, const std::string& dims, const Path& raw, const Path& path) {
  const auto dtype = dtype_from_name(dtype_name);
  if (!dtype) return fail(Error{ErrorKind::kUsage, dtype_name, "no such type", {}, {}});
  Shape shape;
  for (const char* at = dims.c_str(); *at != '\0' && *at != '-';) {
    char* end = nullptr;
    shape.push_back(std::strtoll(at, &end, 10));
    at = *end == ',' ? end + 1 : end;
  }
  const auto file = File::open(raw);
  if (!file) return fail(file.error());
  const auto tensor = make_tensor(*dtype, shape, Bytes::in_file(*file, 0, (*file)->size()), raw.string());
  if (!tensor) return fail(tensor.error());
  const auto status = write_npy(path, *tensor, /*overwrite=*/true);
  return status ? 0 : fail(status.error());
}

}  // namespace
}  // namespace paritas

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "dump" && argc > 2) {
    int code = 0;
    for (int i = 2; i < argc && code == 0; ++i) code = paritas::dump(argv[i]);
    return code;
  }
  if (command == "write" && argc == 6) return paritas::write(argv[2], argv[3], argv[4], argv[5]);
  std::fprintf(stderr, "usage: npy_tool dump FILE... | npy_tool write DTYPE DIMS RAW FILE\n");
  return 2;
}
