#include "paritas/onnx/model.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>

#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using namespace testing;
using ::testing::HasSubstr;

std::vector<float> counting(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

GraphBuilder matmul(const Tensor& weights) {
  GraphBuilder builder;
  builder.input("x", {1, weights.shape[0]}).initializer("w", weights).node("MatMul", {"x", "w"}, {"y"}).output("y");
  return builder;
}

std::vector<float> values_of(const Tensor& tensor) {
  const TensorView view = must(TensorView::of(tensor));
  std::vector<float> values(view.count());
  std::memcpy(values.data(), view.bytes().data(), view.bytes().size());
  return values;
}

class ModelFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = Path(::testing::TempDir()) / fmt_name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string fmt_name() {
    return std::string("paritas_onnx_") + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  Path write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  Path write(const ::onnx::ModelProto& proto) { return write("in.onnx", proto.SerializeAsString()); }
  // A model whose weight lies in `location`.
  Path external(const std::string& location, const std::string& offset, const std::string& length,
                const Shape& shape = {20, 20}) {
    GraphBuilder builder = matmul(floats({20, 20}, counting(400)));
    auto* tensor = builder.graph().mutable_initializer(0);
    tensor->clear_raw_data();
    tensor->clear_dims();
    for (const int64_t dim : shape) tensor->add_dims(dim);
    tensor->set_data_location(::onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] :
         {std::pair<std::string, std::string>("location", location), {"offset", offset}, {"length", length}}) {
      if (value.empty()) continue;
      auto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    return write(builder.proto());
  }
  std::string failure(const Path& path) {
    const auto model = Model::load(path);
    return model ? "loaded" : model.error().message();
  }

  Path folder_;
};

TEST_F(ModelFiles, LargeTensorsStayInTheFile) {
  const Path path = write(matmul(floats({20, 20}, counting(400))).proto());
  const Model model = must(Model::load(path));
  const auto& proto = model.graph().initializer(0);
  EXPECT_FALSE(proto.has_raw_data());
  EXPECT_EQ(proto.data_location(), ::onnx::TensorProto::EXTERNAL);
  const Tensor tensor = must(model.tensor(proto));
  ASSERT_NE(tensor.bytes.file(), nullptr);
  EXPECT_EQ(tensor.bytes.file()->path(), path);
  EXPECT_EQ(values_of(tensor), counting(400));
}

// Appends the tag and length of a length-delimited protobuf field.
void append_head(std::string& out, int field, uint64_t length) {
  out.push_back(static_cast<char>(field << 3 | 2));
  for (; length >= 0x80; length >>= 7) out.push_back(static_cast<char>(0x80 | (length & 0x7f)));
  out.push_back(static_cast<char>(length));
}

// protobuf cannot write messages over 2 GiB, so the last fields are put together by hand; the weights are a hole.
TEST_F(ModelFiles, AModelOfThreeGibibytesLoadsAtOnce) {
  const uint64_t weights = uint64_t{3} << 30;
  ::onnx::TensorProto head;
  head.set_name("w");
  head.set_data_type(::onnx::TensorProto::FLOAT);
  head.add_dims(static_cast<int64_t>(weights / 4));
  std::string tensor = head.SerializeAsString();
  append_head(tensor, 9, weights);
  GraphBuilder builder;
  std::string graph = builder.input("x").node("Add", {"x", "w"}, {"y"}).output("y").graph().SerializeAsString();
  append_head(graph, 5, tensor.size() + weights);
  graph += tensor;
  ::onnx::ModelProto frame = builder.proto();
  frame.clear_graph();
  std::string bytes = frame.SerializeAsString();
  append_head(bytes, 7, graph.size() + weights);
  const Path path = write("large.onnx", bytes + graph);
  std::filesystem::resize_file(path, bytes.size() + graph.size() + weights);
  const Model model = must(Model::load(path));
  const Tensor tensor_in_file = must(model.tensor(model.graph().initializer(0)));
  EXPECT_EQ(tensor_in_file.bytes.size(), weights);
  EXPECT_EQ(tensor_in_file.bytes.offset(), bytes.size() + graph.size());
  EXPECT_LT(model.proto().ByteSizeLong(), 500u);
}

TEST_F(ModelFiles, SmallTensorsStayInTheGraph) {
  const Model model = must(Model::load(write(matmul(floats({4, 4}, counting(16))).proto())));
  EXPECT_TRUE(model.graph().initializer(0).has_raw_data());
  EXPECT_EQ(values_of(must(model.tensor(model.graph().initializer(0)))), counting(16));
}

TEST_F(ModelFiles, EveryPlaceOfALargeTensorIsFound) {
  const auto big = floats({300}, counting(300));
  GraphBuilder then_body;
  then_body.initializer("t0", big).node("Add", {"x", "t0"}, {"t"}).output("t");
  GraphBuilder else_body;
  else_body.constant("e0", big).node("Add", {"x", "e0"}, {"e"}).output("e");
  GraphBuilder builder;
  builder.input("x", {300}).input("c", {}, DType::kBool).constant("k", big).node("If", {"c"}, {"i"});
  builder.body("then_branch", then_body).body("else_branch", else_body).node("Add", {"i", "k"}, {"y"}).output("y");
  // Typed data whose bytes are the tensor's own.
  auto* typed = builder.graph().add_initializer();
  typed->set_name("typed");
  typed->set_data_type(::onnx::TensorProto::FLOAT);
  typed->add_dims(300);
  for (int i = 0; i < 300; ++i) typed->add_float_data(static_cast<float>(i));
  auto proto = builder.proto();
  auto* function = proto.add_functions();
  function->set_name("f");
  auto* node = function->add_node();
  *node = builder.graph().node(0);
  const Model model = must(Model::load(write(proto)));
  EXPECT_LT(model.proto().ByteSizeLong(), 1200u);
  EXPECT_EQ(values_of(must(model.tensor(model.graph().initializer(0)))), counting(300));
  const auto& if_node = model.graph().node(1);
  EXPECT_EQ(values_of(must(model.tensor(if_node.attribute(0).g().initializer(0)))), counting(300));
  EXPECT_EQ(values_of(must(model.tensor(if_node.attribute(1).g().node(0).attribute(0).t()))), counting(300));
  EXPECT_EQ(values_of(must(model.tensor(model.proto().functions(0).node(0).attribute(0).t()))), counting(300));
}

TEST_F(ModelFiles, SaveAndLoadKeepEverything) {
  GraphBuilder builder = matmul(floats({20, 20}, counting(400)));
  builder.initializer("small", floats({2}, {5, 6}));
  const Model model = must(Model::load(write(builder.proto())));
  const auto saved = must(model.save(folder_, "out"));
  EXPECT_EQ(saved.weight_bytes, 1600u);
  const Model again = must(Model::load(saved.model));
  EXPECT_EQ(values_of(must(again.tensor(again.graph().initializer(0)))), counting(400));
  EXPECT_EQ(values_of(must(again.tensor(again.graph().initializer(1)))), (std::vector<float>{5, 6}));
}

TEST_F(ModelFiles, SaveWritesSharedWeightsOnceAndAligned) {
  Model model = matmul(floats({4, 4}, counting(16))).model();
  const Path data = write("data.bin", std::string(4096, 'a'));
  const auto file = must(File::open(data));
  model.add_initializer("a", Tensor{DType::kF32, {300}, Bytes::in_file(file, 0, 1200)});
  model.add_initializer("b", Tensor{DType::kF32, {300}, Bytes::in_file(file, 0, 1200)});
  model.add_initializer("c", Tensor{DType::kF32, {300}, Bytes::in_file(file, 8, 1200)});
  const auto saved = must(model.save(folder_, "out"));
  EXPECT_EQ(saved.weight_bytes, 1216u + 1200u);  // 1200 rounded up to 64, and the second range
  EXPECT_EQ(std::filesystem::file_size(folder_ / "out.weights"), saved.weight_bytes);
}

TEST_F(ModelFiles, SaveDropsWhatTheGraphDoesNotUse) {
  Model model = must(Model::load(write(matmul(floats({20, 20}, counting(400))).proto())));
  model.graph().clear_initializer();
  EXPECT_EQ(must(model.save(folder_, "out")).weight_bytes, 0u);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.weights"));
}

TEST_F(ModelFiles, ExternalDataIsReadFromItsRange) {
  std::string bytes(64 + 1600, '\0');
  std::memcpy(bytes.data() + 64, counting(400).data(), 1600);
  write("w.bin", bytes);
  const Model model = must(Model::load(external("w.bin", "64", "1600")));
  EXPECT_EQ(values_of(must(model.tensor(model.graph().initializer(0)))), counting(400));
}

TEST_F(ModelFiles, ExternalDataThatCannotBeRightIsRefused) {
  write("w.bin", std::string(1600, '\0'));
  EXPECT_EQ(failure(external("w.bin", "", "")), "loaded");
  EXPECT_THAT(failure(external("/etc/passwd", "", "")), HasSubstr("does not stay inside the model's folder"));
  EXPECT_THAT(failure(external("../w.bin", "", "")), HasSubstr("does not stay inside the model's folder"));
  EXPECT_THAT(failure(external("absent.bin", "", "")), HasSubstr("no such file"));
  EXPECT_THAT(failure(external("w.bin", "64", "1600")), HasSubstr("the file ends at byte 1600"));
  EXPECT_THAT(failure(external("w.bin", "64", "18446744073709551615")), HasSubstr("the file ends at byte 1600"));
  EXPECT_THAT(failure(external("w.bin", "99999", "")), HasSubstr("the file ends at byte 1600"));
  EXPECT_THAT(failure(external("w.bin", "0", "1596")), HasSubstr("1596 bytes in w.bin, type and shape ask for 1600"));
  EXPECT_THAT(failure(external("w.bin", "-1", "")), HasSubstr("is not a number of bytes"));
  EXPECT_THAT(failure(external("w.bin", "0x10", "")), HasSubstr("is not a number of bytes"));
  EXPECT_THAT(failure(external("w.bin", "", "", {20, -20})), HasSubstr("\"w\""));
  // The names that the thin copy uses mean nothing in a file.
  EXPECT_NE(failure(external("paritas:0", "", "")), "loaded");
  std::filesystem::create_symlink("/etc/passwd", folder_ / "link");
  EXPECT_THAT(failure(external("link", "", "")), HasSubstr("does not stay inside the model's folder"));
}

TEST_F(ModelFiles, FilesThatAreNoModelAreRefused) {
  EXPECT_THAT(failure(folder_ / "absent.onnx"), HasSubstr("no such file"));
  EXPECT_THAT(failure(write("empty.onnx", "")), HasSubstr("is not an ONNX model"));
  EXPECT_THAT(failure(write("text.onnx", "this is not a network")), HasSubstr("is not an ONNX model"));
  const std::string whole = matmul(floats({20, 20}, counting(400))).proto().SerializeAsString();
  EXPECT_THAT(failure(write("cut.onnx", whole.substr(0, whole.size() / 2))), HasSubstr("is not an ONNX model"));
  auto proto = matmul(floats({4, 4}, counting(16))).proto();
  proto.clear_opset_import();
  EXPECT_THAT(failure(write(proto)), HasSubstr("opset_import"));
  proto = matmul(floats({4, 4}, counting(16))).proto();
  proto.clear_ir_version();
  EXPECT_THAT(failure(write(proto)), HasSubstr("IR version"));
  proto = matmul(floats({4, 4}, counting(16))).proto();
  proto.mutable_graph()->clear_node();
  EXPECT_THAT(failure(write(proto)), HasSubstr("no graph with nodes"));
}

TEST_F(ModelFiles, EveryTruncationIsAnErrorOrAModel) {
  const std::string whole = matmul(floats({20, 20}, counting(400))).proto().SerializeAsString();
  int loaded = 0;
  for (size_t length = 0; length < whole.size(); ++length)
    loaded += Model::parse(std::as_bytes(std::span(whole).first(length)), folder_, "cut").has_value();
  // Whole fields only: the model ends with its opset import, without which it is refused.
  EXPECT_EQ(loaded, 0);
}

TEST(Model, DeepNestingIsRefused) {
  GraphBuilder inner;
  inner.node("Identity", {"x"}, {"y"}).output("y").initializer("w", floats({300}, counting(300)));
  for (int depth = 0; depth < 60; ++depth) {
    GraphBuilder outer;
    outer.node("If", {"c"}, {"y"}).body("then_branch", inner).output("y");
    inner = outer;
  }
  EXPECT_FALSE(parse(inner.proto()));
}

TEST(Model, AnExplicitDefaultLocationIsLeftOutToo) {
  GraphBuilder builder = matmul(floats({20, 20}, counting(400)));
  builder.graph().mutable_initializer(0)->set_data_location(::onnx::TensorProto::DEFAULT);
  const Model model = builder.model();
  EXPECT_FALSE(model.graph().initializer(0).has_raw_data());
  EXPECT_EQ(values_of(must(model.tensor(model.graph().initializer(0)))), counting(400));
}

TEST(Model, CloneIsIndependent) {
  const Model model = matmul(floats({20, 20}, counting(400))).model();
  Model copy = model.clone();
  copy.graph().clear_node();
  EXPECT_EQ(model.graph().node_size(), 1);
  EXPECT_EQ(values_of(must(copy.tensor(copy.graph().initializer(0)))), counting(400));
}

TEST(Model, AddInitializerRaisesTheIrVersion) {
  Model model = matmul(floats({4, 4}, counting(16))).model(3);
  model.add_initializer("big", floats({300}, counting(300)));
  EXPECT_EQ(model.proto().ir_version(), 4);
  EXPECT_EQ(values_of(must(model.tensor(model.graph().initializer(1)))), counting(300));
}

TEST(Model, SizeThatDisagreesWithTheShapeIsRefused) {
  GraphBuilder builder = matmul(floats({20, 20}, counting(400)));
  builder.graph().mutable_initializer(0)->set_dims(0, 21);
  const Model model = builder.model();
  EXPECT_FALSE(model.tensor(model.graph().initializer(0)));
}

}  // namespace
}  // namespace paritas::onnx_model
