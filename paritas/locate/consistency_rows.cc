#include "paritas/locate/consistency_rows.h"

#include <algorithm>

#include <fmt/format.h>

namespace paritas {
namespace {

bool is_fixed(const std::string& dim) {
  return !dim.empty() && std::all_of(dim.begin(), dim.end(), [](unsigned char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<std::optional<Tensor>> repeat_first_row(const Tensor& tensor, int64_t rows) {
  if (tensor.shape.empty() || tensor.shape.front() < 1 || rows < 1) return std::optional<Tensor>();
  const auto given = static_cast<uint64_t>(tensor.shape.front());
  const uint64_t count = tensor.count() / given;
  const uint64_t row = tensor.bytes.size() / given;
  if (row * given != tensor.bytes.size() || byte_size(tensor.dtype, count) != row) return std::optional<Tensor>();
  std::vector<std::byte> bytes(row * static_cast<uint64_t>(rows));
  if (row > 0) PARITAS_TRY(tensor.bytes.read(0, std::span(bytes).first(row)));
  for (uint64_t i = 1; i < static_cast<uint64_t>(rows); ++i)
    std::copy_n(bytes.begin(), row, bytes.begin() + static_cast<std::ptrdiff_t>(i * row));
  Shape shape = tensor.shape;
  shape.front() = rows;
  return std::optional<Tensor>(Tensor{tensor.dtype, std::move(shape), Bytes::in_memory(std::move(bytes))});
}

Result<EqualRows> equal_rows(const onnx_model::Model& given, const NamedTensors& inputs) {
  EqualRows plan;
  const std::string* leading = nullptr;
  for (const auto& [name, tensor] : inputs) {
    if (tensor.shape.empty()) continue;
    const int64_t rows = tensor.shape.front();
    if (leading == nullptr) {
      leading = &name;
      plan.rows = rows;
    } else if (rows != plan.rows) {
      plan.not_applicable = fmt::format("the inputs share no leading dimension: {} of \"{}\", {} of \"{}\"", plan.rows,
                                        *leading, rows, name);
      return plan;
    }
  }
  if (leading == nullptr || plan.rows < 1) {
    plan.not_applicable =
        leading == nullptr ? "no input has a leading dimension" : fmt::format("\"{}\" holds no row", *leading);
    return plan;
  }
  if (plan.rows == 1) {
    for (const auto& info : onnx_model::describe_inputs(given))
      if (info.has_shape && !info.dims.empty() && is_fixed(info.dims.front())) {
        plan.not_applicable = fmt::format("one row, and the leading dimension of \"{}\" is fixed", info.name);
        return plan;
      }
    plan.rows = 2;
    plan.repinned = true;
  }
  for (const auto& [name, tensor] : inputs) {
    if (tensor.shape.empty()) {
      plan.inputs.emplace_back(name, tensor);
      continue;
    }
    PARITAS_ASSIGN(auto batch, repeat_first_row(tensor, plan.rows));
    if (!batch) {
      plan.not_applicable = fmt::format("rows of \"{}\" do not end on whole bytes", name);
      plan.inputs.clear();
      return plan;
    }
    plan.inputs.emplace_back(name, std::move(*batch));
  }
  return plan;
}

}  // namespace paritas
