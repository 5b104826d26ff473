#include "paritas/onnx/thin.h"

#include <optional>

#include <fmt/format.h>

#include "paritas/onnx/model.h"

namespace paritas::onnx_model {
namespace {

// A body inside a body takes three levels (graph, node, attribute). protobuf's own limit is 100 messages.
constexpr int kMaxDepth = 100;

enum class Message { kOther, kModel, kGraph, kNode, kAttribute, kTensor, kSparseTensor, kFunction, kTraining };

// The message that a length-delimited field holds; kOther for those that cannot contain a tensor.
Message child_of(Message parent, uint64_t field) {
  switch (parent) {
    case Message::kModel:
      if (field == 7) return Message::kGraph;
      if (field == 20) return Message::kTraining;
      if (field == 25) return Message::kFunction;
      break;
    case Message::kGraph:
      if (field == 1) return Message::kNode;
      if (field == 5) return Message::kTensor;
      if (field == 15) return Message::kSparseTensor;
      break;
    case Message::kNode:
      if (field == 5) return Message::kAttribute;
      break;
    case Message::kAttribute:
      if (field == 5 || field == 10) return Message::kTensor;
      if (field == 6 || field == 11) return Message::kGraph;
      if (field == 22 || field == 23) return Message::kSparseTensor;
      break;
    case Message::kSparseTensor:
      if (field == 1 || field == 2) return Message::kTensor;
      break;
    case Message::kFunction:
      if (field == 7) return Message::kNode;
      if (field == 11) return Message::kAttribute;
      break;
    case Message::kTraining:
      if (field == 1 || field == 2) return Message::kGraph;
      break;
    case Message::kTensor:
    case Message::kOther:
      break;
  }
  return Message::kOther;
}

enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

// TensorProto
constexpr uint64_t kDataType = 2;
constexpr uint64_t kFloatData = 4;
constexpr uint64_t kRawData = 9;
constexpr uint64_t kDoubleData = 10;
constexpr uint64_t kExternalData = 13;
constexpr uint64_t kDataLocation = 14;

struct Field {
  uint64_t number = 0;
  int wire = 0;
  size_t begin = 0;    // of the tag
  size_t payload = 0;  // behind tag and length
  size_t end = 0;
  uint64_t varint = 0;  // value of kVarint fields
};

void append_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void append_field(std::string& out, uint64_t number, std::string_view payload) {
  append_varint(out, number << 3 | kLengthDelimited);
  append_varint(out, payload.size());
  out.append(payload);
}

class Thinner {
 public:
  explicit Thinner(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool run() { return message(Message::kModel, 0, bytes_.size(), 0, result_.bytes); }
  ThinModel&& take() { return std::move(result_); }
  size_t damaged_at() const { return damaged_at_; }

 private:
  std::optional<uint64_t> varint(size_t& at, size_t end) const {
    uint64_t value = 0;
    for (int shift = 0; shift < 70 && at < end; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes_[at++]);
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<Field> field(size_t at, size_t end) {
    Field f;
    f.begin = damaged_at_ = at;
    const auto tag = varint(at, end);
    if (!tag || (*tag >> 3) == 0) return std::nullopt;
    f.number = *tag >> 3;
    f.wire = static_cast<int>(*tag & 7);
    uint64_t length = 0;
    if (f.wire == kVarint || f.wire == kLengthDelimited) {
      const auto value = varint(at, end);
      if (!value) return std::nullopt;
      (f.wire == kVarint ? f.varint : length) = *value;
    } else if (f.wire == kFixed64) {
      length = 8;
    } else if (f.wire == kFixed32) {
      length = 4;
    } else {
      return std::nullopt;  // groups: no ONNX message has them
    }
    if (length > end - at) return std::nullopt;
    f.payload = at;
    f.end = at + static_cast<size_t>(length);
    return f;
  }

  void copy(size_t begin, size_t end, std::string& out) const {
    out.append(reinterpret_cast<const char*>(bytes_.data()) + begin, end - begin);
  }

  // A message shorter than the limit holds no large tensor and is copied unread.
  bool worth_entering(Message kind, const Field& f) const {
    return kind != Message::kOther && f.wire == kLengthDelimited && f.end - f.payload >= kInlineLimit;
  }

  bool message(Message kind, size_t begin, size_t end, int depth, std::string& out) {
    damaged_at_ = begin;
    if (depth > kMaxDepth) return false;
    if (kind == Message::kTensor) return tensor(begin, end, out);
    for (size_t at = begin; at < end;) {
      const auto f = field(at, end);
      if (!f) return false;
      const Message child = child_of(kind, f->number);
      if (worth_entering(child, *f)) {
        std::string thin;
        if (!message(child, f->payload, f->end, depth + 1, thin)) return false;
        append_field(out, f->number, thin);
      } else {
        copy(f->begin, f->end, out);
      }
      at = f->end;
    }
    return true;
  }

  struct TensorScan {
    uint64_t data_type = 0;
    int float_fields = 0;
    int double_fields = 0;
    int raw_fields = 0;
    bool external = false;
  };

  // The one field that may be left out, or 0: data in several pieces or with a contradicting type is left to
  // tensor_from_proto(), which refuses it.
  static uint64_t field_to_leave_out(const TensorScan& scan) {
    if (scan.external || scan.float_fields + scan.double_fields + scan.raw_fields != 1) return 0;
    if (scan.raw_fields == 1) return kRawData;
    if (scan.float_fields == 1 && scan.data_type == ::onnx::TensorProto::FLOAT) return kFloatData;
    if (scan.double_fields == 1 && scan.data_type == ::onnx::TensorProto::DOUBLE) return kDoubleData;
    return 0;
  }

  bool tensor(size_t begin, size_t end, std::string& out) {
    TensorScan scan;
    for (size_t at = begin; at < end;) {
      const auto f = field(at, end);
      if (!f) return false;
      if (f->number == kDataType && f->wire == kVarint) scan.data_type = f->varint;
      scan.float_fields += f->number == kFloatData;
      scan.double_fields += f->number == kDoubleData;
      scan.raw_fields += f->number == kRawData;
      scan.external |= f->number == kExternalData || (f->number == kDataLocation && f->varint != 0);
      at = f->end;
    }
    const uint64_t leave_out = field_to_leave_out(scan);
    for (size_t at = begin; at < end;) {
      const auto f = field(at, end);
      if (!f) return false;
      if (f->number == leave_out && f->wire == kLengthDelimited && f->end - f->payload >= kInlineLimit)
        append_reference(f->payload, f->end, out);
      else if (leave_out == 0 || f->number != kDataLocation)  // an explicit DEFAULT would contradict the reference
        copy(f->begin, f->end, out);
      at = f->end;
    }
    return true;
  }

  void append_reference(size_t begin, size_t end, std::string& out) {
    std::string entry;  // StringStringEntryProto: key = 1, value = 2
    append_field(entry, 1, "location");
    append_field(entry, 2, weight_key(result_.left_out.size()));
    append_field(out, kExternalData, entry);
    append_varint(out, kDataLocation << 3 | kVarint);
    append_varint(out, ::onnx::TensorProto::EXTERNAL);
    result_.left_out.push_back({begin, end - begin});
  }

  std::span<const std::byte> bytes_;
  ThinModel result_;
  size_t damaged_at_ = 0;
};

}  // namespace

std::string weight_key(size_t number) { return fmt::format("paritas:{}", number); }

Result<ThinModel> leave_out_large_tensors(std::span<const std::byte> model, const std::string& subject) {
  Thinner thinner(model);
  if (!thinner.run())
    return input_error(subject, fmt::format("is not an ONNX model, or is damaged at byte {}", thinner.damaged_at()),
                       "export or copy the model again");
  return thinner.take();
}

}  // namespace paritas::onnx_model
