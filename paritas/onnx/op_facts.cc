#include "paritas/onnx/op_facts.h"

#include <string_view>
#include <unordered_map>

namespace paritas::onnx_model {
namespace {

using Table = std::unordered_map<std::string_view, OpFacts>;

constexpr uint32_t bit(int operand) { return uint32_t{1} << operand; }
constexpr uint32_t kAllOperands = ~uint32_t{0};

// Element-wise, pooling, convolution, normalisation, data movement: type of input 0, shapes from shapes.
constexpr std::string_view kPlain[] = {"Abs",
                                       "Acos",
                                       "Acosh",
                                       "Add",
                                       "Asin",
                                       "Asinh",
                                       "Atan",
                                       "Atanh",
                                       "Attention",
                                       "AveragePool",
                                       "BatchNormalization",
                                       "BitShift",
                                       "BitwiseAnd",
                                       "BitwiseNot",
                                       "BitwiseOr",
                                       "BitwiseXor",
                                       "Ceil",
                                       "Celu",
                                       "Clip",
                                       "Concat",
                                       "Conv",
                                       "ConvTranspose",
                                       "Cos",
                                       "Cosh",
                                       "CumSum",
                                       "DeformConv",
                                       "DepthToSpace",
                                       "Det",
                                       "Div",
                                       "Einsum",
                                       "Elu",
                                       "Erf",
                                       "Exp",
                                       "Flatten",
                                       "Floor",
                                       "GRU",
                                       "Gather",
                                       "GatherElements",
                                       "GatherND",
                                       "Gelu",
                                       "Gemm",
                                       "GlobalAveragePool",
                                       "GlobalLpPool",
                                       "GlobalMaxPool",
                                       "GridSample",
                                       "GroupNormalization",
                                       "HardSigmoid",
                                       "HardSwish",
                                       "Hardmax",
                                       "Identity",
                                       "InstanceNormalization",
                                       "LRN",
                                       "LSTM",
                                       "LayerNormalization",
                                       "LeakyRelu",
                                       "Log",
                                       "LogSoftmax",
                                       "LpNormalization",
                                       "LpPool",
                                       "MatMul",
                                       "Max",
                                       "MaxRoiPool",
                                       "Mean",
                                       "MeanVarianceNormalization",
                                       "Min",
                                       "Mish",
                                       "Mod",
                                       "Mul",
                                       "Neg",
                                       "NegativeLogLikelihoodLoss",
                                       "PRelu",
                                       "Pow",
                                       "RMSNormalization",
                                       "RNN",
                                       "Reciprocal",
                                       "Relu",
                                       "ReverseSequence",
                                       "RoiAlign",
                                       "RotaryEmbedding",
                                       "Round",
                                       "Scatter",
                                       "ScatterElements",
                                       "ScatterND",
                                       "Selu",
                                       "Shrink",
                                       "Sigmoid",
                                       "Sign",
                                       "Sin",
                                       "Sinh",
                                       "Softmax",
                                       "SoftmaxCrossEntropyLoss",
                                       "Softplus",
                                       "Softsign",
                                       "SpaceToDepth",
                                       "Sqrt",
                                       "Sub",
                                       "Sum",
                                       "Swish",
                                       "Tan",
                                       "Tanh",
                                       "TensorScatter",
                                       "ThresholdedRelu",
                                       "Transpose",
                                       "Trilu"};

constexpr std::string_view kBooleans[] = {
    "And",           "Or",    "Not",   "Xor",         "Equal",          "Greater",
    "Less",          "IsNaN", "IsInf", "LessOrEqual", "GreaterOrEqual", "OptionalHasElement",
    "RegexFullMatch"};

constexpr std::string_view kReductions[] = {"ReduceL1",  "ReduceL2",       "ReduceLogSum", "ReduceLogSumExp",
                                            "ReduceMax", "ReduceMean",     "ReduceMin",    "ReduceProd",
                                            "ReduceSum", "ReduceSumSquare"};

constexpr std::string_view kSequences[] = {"SequenceConstruct", "SequenceEmpty",   "SequenceInsert", "SequenceErase",
                                           "SequenceMap",       "SplitToSequence", "Optional"};

constexpr std::string_view kRandom[] = {"RandomNormal",      "RandomUniform", "RandomNormalLike",
                                        "RandomUniformLike", "Multinomial",   "Bernoulli"};

// com.microsoft: operators whose output shapes follow from input shapes alone.
constexpr std::string_view kMicrosoftPlain[] = {"Gelu",
                                                "FastGelu",
                                                "BiasGelu",
                                                "QuickGelu",
                                                "FusedMatMul",
                                                "FusedGemm",
                                                "FusedConv",
                                                "SkipLayerNormalization",
                                                "LayerNormalization",
                                                "SimplifiedLayerNormalization",
                                                "SkipSimplifiedLayerNormalization",
                                                "RotaryEmbedding",
                                                "GridSample",
                                                "FusedMatMulActivation",
                                                "BiasSoftmax",
                                                "GroupNorm",
                                                "SkipGroupNorm",
                                                "BiasAdd",
                                                "BiasSplitGelu"};
constexpr std::string_view kMicrosoftUntyped[] = {"Attention",
                                                  "MultiHeadAttention",
                                                  "MatMulNBits",
                                                  "QLinearAdd",
                                                  "QLinearMul",
                                                  "QLinearSigmoid",
                                                  "QLinearConcat",
                                                  "QLinearAveragePool",
                                                  "QLinearGlobalAveragePool",
                                                  "QLinearLeakyRelu",
                                                  "QLinearSoftmax",
                                                  "QLinearConv",
                                                  "QGemm",
                                                  "DynamicQuantizeMatMul",
                                                  "MatMulIntegerToFloat",
                                                  "NhwcMaxPool",
                                                  "EmbedLayerNormalization",
                                                  "QAttention"};

void add_shaped(Table& table) {
  const auto first = [&](std::string_view op, uint32_t operands, TypeRule more = TypeRule::kUnknown) {
    table[op] = {TypeRule::kFirst, ShapeRule::kInputs, operands, more};
  };
  for (const auto op : kReductions) first(op, bit(1));
  first("AffineGrid", bit(1));
  first("CenterCropPad", bit(1));
  first("Col2Im", bit(1) | bit(2));
  first("Dropout", 0, TypeRule::kBool);
  first("Expand", bit(1));
  first("MaxPool", 0, TypeRule::kInt64);
  first("MaxUnpool", bit(2));
  first("Pad", bit(1) | bit(3));
  first("Range", bit(0) | bit(1) | bit(2));
  first("Reshape", bit(1));
  first("Resize", bit(1) | bit(2) | bit(3));  // roi, scales, sizes; opset 10 has the scales at 1
  first("Slice", bit(1) | bit(2) | bit(3) | bit(4));
  first("Split", bit(1), TypeRule::kFirst);
  first("Squeeze", bit(1));
  first("Tile", bit(1) | bit(2));
  first("TopK", bit(1), TypeRule::kInt64);
  first("Unsqueeze", bit(1));
  first("Upsample", bit(1));
  first("DFT", bit(1) | bit(2));
  first("STFT", bit(1) | bit(3));
  for (const auto op : {"HannWindow", "HammingWindow", "BlackmanWindow", "MelWeightMatrix"})
    table[op] = {TypeRule::kUnknown, ShapeRule::kInputs, kAllOperands};
  table["OneHot"] = {TypeRule::kThird, ShapeRule::kInputs, bit(1)};
  table["ConstantOfShape"] = {TypeRule::kFill, ShapeRule::kInputs, bit(0)};
}

void add_typed(Table& table) {
  const auto plain = [&](std::string_view op, TypeRule type, TypeRule more = TypeRule::kUnknown) {
    table[op] = {type, ShapeRule::kInputs, 0, more};
  };
  for (const auto op : kPlain) plain(op, TypeRule::kFirst);
  for (const auto op : kBooleans) plain(op, TypeRule::kBool);
  for (const auto op : {"GRU", "LSTM", "RNN"}) plain(op, TypeRule::kFirst, TypeRule::kFirst);
  plain("ArgMax", TypeRule::kInt64);
  plain("ArgMin", TypeRule::kInt64);
  plain("Cast", TypeRule::kCast);
  plain("CastLike", TypeRule::kSecond);
  plain("Constant", TypeRule::kConstant);
  plain("Where", TypeRule::kSecond);
  plain("QuantizeLinear", TypeRule::kQuantized);
  plain("DequantizeLinear", TypeRule::kSecond);
  plain("DynamicQuantizeLinear", TypeRule::kUnknown);
  plain("ConvInteger", TypeRule::kInt32);
  plain("MatMulInteger", TypeRule::kInt32);
  plain("QLinearConv", TypeRule::kUnknown);
  plain("QLinearMatMul", TypeRule::kUnknown);
  plain("TfIdfVectorizer", TypeRule::kFloat);
  plain("BitCast", TypeRule::kCast);
}

void add_unusual(Table& table) {
  table["Shape"] = table["Size"] = {TypeRule::kInt64, ShapeRule::kOnlyShape};
  table["EyeLike"] = {TypeRule::kUnknown, ShapeRule::kOnlyShape};
  table["NonZero"] = table["NonMaxSuppression"] = {TypeRule::kInt64, ShapeRule::kValues};
  table["SequenceLength"] = {TypeRule::kInt64, ShapeRule::kValues};
  table["Compress"] = {TypeRule::kFirst, ShapeRule::kValues};
  table["Unique"] = {TypeRule::kFirst, ShapeRule::kValues, 0, TypeRule::kInt64};
  for (const auto op : kSequences) table[op] = {TypeRule::kNotTensor, ShapeRule::kValues};
  for (const auto op : kRandom) table[op] = {TypeRule::kUnknown, ShapeRule::kInputs, 0, TypeRule::kUnknown, true};
}

const Table& onnx_table() {
  static const Table table = [] {
    Table all;
    add_typed(all);
    add_shaped(all);
    add_unusual(all);
    return all;
  }();
  return table;
}

const Table& microsoft_table() {
  static const Table table = [] {
    Table all;
    for (const auto op : kMicrosoftPlain) all[op] = {TypeRule::kFirst, ShapeRule::kInputs};
    for (const auto op : kMicrosoftUntyped) all[op] = {TypeRule::kUnknown, ShapeRule::kInputs};
    all["QuantizeLinear"] = {TypeRule::kQuantized, ShapeRule::kInputs};
    all["DequantizeLinear"] = {TypeRule::kSecond, ShapeRule::kInputs};
    return all;
  }();
  return table;
}

// Dropout draws numbers only when its third input, training_mode, may be true.
bool may_train(const ::onnx::NodeProto& node) {
  return node.op_type() == "Dropout" && node.input_size() > 2 && !node.input(2).empty();
}

}  // namespace

bool is_onnx_domain(const ::onnx::NodeProto& node) { return node.domain().empty() || node.domain() == "ai.onnx"; }

OpFacts facts_of(const ::onnx::NodeProto& node) {
  const Table* table = is_onnx_domain(node)               ? &onnx_table()
                       : node.domain() == "com.microsoft" ? &microsoft_table()
                                                          : nullptr;
  const auto unknown = OpFacts{TypeRule::kUnknown, ShapeRule::kValues};
  if (table == nullptr) return unknown;
  const auto it = table->find(node.op_type());
  if (it == table->end()) return unknown;
  OpFacts facts = it->second;
  facts.random |= may_train(node);
  return facts;
}

}  // namespace paritas::onnx_model
