#include "paritas/tflite/model.h"

#include <gmock/gmock.h>

#include "paritas/base/test_files.h"
#include "paritas/tflite/promote.h"
#include "paritas/tflite/testing.h"

namespace paritas::tflite {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TfliteModel : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::create(::testing::TempDir());
    ASSERT_TRUE(made.has_value());
    scratch_.emplace(std::move(*made));
  }
  const Path& folder() const { return scratch_->path(); }

  // x -> ADD(x, c) -> y -> LOGISTIC -> z
  static TinyTflite chain() {
    TinyTflite tiny;
    const int x = tiny.tensor("x", kTestFloat32, {1, 3});
    const int c = tiny.constant<float>(tiny.tensor("c", kTestFloat32, {3}), {1, 2, 3});
    const int y = tiny.tensor("y", kTestFloat32, {1, 3});
    const int z = tiny.tensor("z", kTestFloat32, {1, 3});
    tiny.op(kTestAdd, {x, c}, {y}, 11);
    tiny.op(kTestLogistic, {y}, {z});
    tiny.ports({x}, {z});
    return tiny;
  }

  std::string error_of(const TinyTflite& tiny) const {
    const auto model = Model::load(tiny.save(folder()));
    return model ? "" : model.error().message();
  }

 private:
  std::optional<ScratchFolder> scratch_;
};

TEST_F(TfliteModel, ReadsTheGraph) {
  const auto model = Model::load(chain().save(folder()));
  ASSERT_TRUE(model.has_value()) << model.error().message();
  const Graph& graph = model->main();
  EXPECT_EQ(graph.name, "main");
  ASSERT_EQ(graph.tensors.size(), 4u);
  EXPECT_EQ(graph.tensors[0].id, "x");
  EXPECT_EQ(graph.tensors[0].dtype, DType::kF32);
  EXPECT_EQ(graph.tensors[0].shape, (Shape{1, 3}));
  EXPECT_THAT(graph.inputs, ElementsAre(0));
  EXPECT_THAT(graph.outputs, ElementsAre(3));
  ASSERT_EQ(graph.ops.size(), 2u);
  EXPECT_EQ(graph.ops[0].label(), "0:ADD");
  EXPECT_EQ(graph.ops[1].label(), "1:LOGISTIC");
  EXPECT_THAT(graph.ops[0].inputs, ElementsAre(0, 1));
  EXPECT_EQ(graph.producer(2), 0);
  EXPECT_EQ(graph.producer(0), -1);
  EXPECT_FALSE(model->stateful());
  EXPECT_FALSE(model->random());
  EXPECT_EQ(model->constant_bytes(), 12u);
}

TEST_F(TfliteModel, CodesFrom127OnStandInTheNewerField) {
  TinyTflite tiny = chain();
  tiny.model().operator_codes[1]->builtin_code = kTestQuantize;  // the older field says LOGISTIC (14) still
  const auto model = Model::load(tiny.save(folder()));
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->main().ops[1].name, "QUANTIZE");
}

TEST_F(TfliteModel, CustomOperatorsCarryTheirOwnName) {
  TinyTflite tiny = chain();
  tiny.model().operator_codes[1]->builtin_code = kCustomOperator;
  tiny.model().operator_codes[1]->custom_code = "TFLite_Detection_PostProcess";
  const auto model = Model::load(tiny.save(folder()));
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->main().ops[1].label(), "1:TFLite_Detection_PostProcess");
}

TEST_F(TfliteModel, TensorsOfOneNameStayApart) {
  TinyTflite tiny = chain();
  tiny.at(2).name = "x";
  tiny.at(3).name = "";
  tiny.at(1).name = "x#0";  // looks like a name of ours
  const auto model = Model::load(tiny.save(folder()));
  ASSERT_TRUE(model.has_value());
  const auto& tensors = model->main().tensors;
  EXPECT_EQ(tensors[0].id, "x#0");
  EXPECT_EQ(tensors[1].id, "x#0#1");
  EXPECT_EQ(tensors[2].id, "x#2");
  EXPECT_EQ(tensors[3].id, "tensor#3");
}

TEST_F(TfliteModel, QuantisationPerChannelFitsItsAxisOrIsRefused) {
  TinyTflite tiny = chain();
  const int w = tiny.quantised("w", kTestInt8, {2, 5}, {0.5f, 0.25f}, {0}, 0);
  {
    const auto model = Model::load(tiny.save(folder()));
    ASSERT_TRUE(model.has_value()) << model.error().message();
    const auto& q = model->main().tensors[static_cast<size_t>(w)].quantisation;
    ASSERT_TRUE(q.has_value());
    EXPECT_THAT(q->scale, ElementsAre(0.5f, 0.25f));
    EXPECT_THAT(q->zero_point, ElementsAre(0, 0));  // one zero point holds for all
    EXPECT_EQ(q->axis, 0);
  }
  tiny.at(w).quantization->quantized_dimension = 1;
  EXPECT_THAT(error_of(tiny), HasSubstr("2 scales along axis 1"));
  tiny.at(w).quantization->quantized_dimension = 7;
  EXPECT_THAT(error_of(tiny), HasSubstr("axis 7"));
  tiny.at(w).quantization->zero_point = {1, 2, 3};
  EXPECT_THAT(error_of(tiny), HasSubstr("2 scales and 3 zero points"));
}

TEST_F(TfliteModel, AnEmptyQuantisationIsNone) {
  TinyTflite tiny = chain();
  const int a = tiny.quantised("a", kTestFloat32, {2}, {}, {});
  const int b = tiny.quantised("b", kTestFloat32, {2}, {0}, {0});
  const auto model = Model::load(tiny.save(folder()));
  ASSERT_TRUE(model.has_value());
  EXPECT_FALSE(model->main().tensors[static_cast<size_t>(a)].quantisation.has_value());
  EXPECT_FALSE(model->main().tensors[static_cast<size_t>(b)].quantisation.has_value());
}

TEST_F(TfliteModel, ReadsConstants) {
  const auto model = Model::load(chain().save(folder()));
  ASSERT_TRUE(model.has_value());
  const auto constant = model->constant(0, 1);
  ASSERT_TRUE(constant.has_value()) << constant.error().message();
  std::vector<double> values(3);
  const auto view = TensorView::of(*constant);
  ASSERT_TRUE(view.has_value());
  load_as_double(view->dtype(), view->bytes(), 0, values);
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
  EXPECT_FALSE(model->constant(0, 0).has_value());
}

TEST_F(TfliteModel, AConstantOfTheWrongSizeIsRefusedWhenItIsRead) {
  TinyTflite tiny = chain();
  tiny.at(1).shape = {4};
  const auto model = Model::load(tiny.save(folder()));
  ASSERT_TRUE(model.has_value());
  EXPECT_FALSE(model->constant(0, 1).has_value());
}

TEST_F(TfliteModel, ReadsBuffersBehindTheFlatbuffer) {
  TinyTflite tiny = chain();
  auto& buffer = *tiny.model().buffers[tiny.at(1).buffer];
  buffer.data.clear();
  buffer.offset = 2;  // set, so that the size of the file does not change with it
  buffer.size = 12;
  const Path first = tiny.save(folder(), "sizes");
  buffer.offset = std::filesystem::file_size(first);
  const float values[3] = {7, 8, 9};
  const auto model =
      Model::load(tiny.save(folder(), "outside", std::string(reinterpret_cast<const char*>(values), sizeof values)));
  ASSERT_TRUE(model.has_value()) << model.error().message();
  EXPECT_EQ(model->outside_buffers(), 1u);
  const auto constant = model->constant(0, 1);
  ASSERT_TRUE(constant.has_value()) << constant.error().message();
  const auto view = TensorView::of(*constant);
  EXPECT_EQ(std::memcmp(view->bytes().data(), values, sizeof values), 0);

  buffer.size = 13;
  EXPECT_THAT(error_of(tiny), HasSubstr("beyond the end"));
  buffer.offset = ~uint64_t{0};
  EXPECT_THAT(error_of(tiny), HasSubstr("beyond the end"));
}

TEST_F(TfliteModel, RefusesIndicesThatDoNotExist) {
  const auto broken = [&](auto&& change) {
    TinyTflite tiny = chain();
    change(tiny);
    return error_of(tiny);
  };
  EXPECT_THAT(broken([](auto& t) { t.graph().inputs = {9}; }), HasSubstr("no tensor of it"));
  EXPECT_THAT(broken([](auto& t) { t.graph().outputs = {-1}; }), HasSubstr("no tensor of it"));
  EXPECT_THAT(broken([](auto& t) { t.graph().operators[0]->inputs = {99}; }), HasSubstr("does not exist"));
  EXPECT_THAT(broken([](auto& t) { t.graph().operators[0]->outputs = {-1}; }), HasSubstr("does not exist"));
  EXPECT_THAT(broken([](auto& t) { t.graph().operators[0]->opcode_index = 5; }), HasSubstr("no operator code"));
  EXPECT_THAT(broken([](auto& t) { t.at(0).buffer = 77; }), HasSubstr("buffer that does not exist"));
  EXPECT_THAT(broken([](auto& t) { t.at(0).shape = {-5}; }), HasSubstr("has the shape"));
  EXPECT_THAT(broken([](auto& t) { t.at(0).shape = {1 << 30, 1 << 30, 1 << 30}; }), HasSubstr("has the shape"));
  EXPECT_EQ(broken([](auto& t) { t.graph().operators[0]->inputs = {0, -1}; }), "");  // an input that is left out
}

TEST_F(TfliteModel, RefusesWhatIsNoModel) {
  const Path path = folder() / "no.tflite";
  std::ofstream(path) << "nothing of the kind";
  EXPECT_FALSE(is_tflite(path));
  EXPECT_THAT(Model::load(path).error().message(), HasSubstr("TFL3"));
  std::ofstream(path, std::ios::trunc) << "TFL3";
  EXPECT_THAT(Model::load(path).error().message(), HasSubstr("too short"));
}

TEST_F(TfliteModel, ACutFileIsRefused) {
  const Path path = chain().save(folder());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_TRUE(is_tflite(path));
  EXPECT_THAT(Model::load(path).error().message(), HasSubstr("damaged"));
}

TEST_F(TfliteModel, PromotedTensorsBecomeOutputs) {
  const auto model = Model::load(chain().save(folder()));
  ASSERT_TRUE(model.has_value());
  EXPECT_THAT(promotable(*model), ElementsAre(2));
  const Path path = folder() / "promoted.tflite";
  ASSERT_TRUE(promote(*model, promotable(*model), path).has_value());
  const auto promoted = Model::load(path);
  ASSERT_TRUE(promoted.has_value()) << promoted.error().message();
  EXPECT_THAT(promoted->main().outputs, ElementsAre(3, 2));
  EXPECT_TRUE(promoted->signatures().empty());
  EXPECT_EQ(promoted->main().ops.size(), 2u);
  const auto before = read_text(model->path()), after = read_text(path);
  // But for two offsets the file is the same up to what was added at its end.
  size_t differing = 0;
  for (size_t i = 0; i < before->size(); ++i) differing += (*before)[i] != (*after)[i];
  EXPECT_LE(differing, 8u);
  EXPECT_GT(differing, 0u);
}

TEST_F(TfliteModel, SignaturesOfAPromotedModelGo) {
  TinyTflite tiny = chain();
  auto signature = std::make_unique<container::SignatureDefT>();
  signature->signature_key = "serving_default";
  auto map = std::make_unique<container::TensorMapT>();
  map->name = "images";
  signature->inputs.push_back(std::move(map));
  tiny.model().signature_defs.push_back(std::move(signature));
  const auto model = Model::load(tiny.save(folder()));
  ASSERT_TRUE(model.has_value());
  ASSERT_EQ(model->signatures().size(), 1u);
  EXPECT_EQ(model->signatures()[0].inputs[0].first, "images");
  const Path path = folder() / "promoted.tflite";
  ASSERT_TRUE(promote(*model, promotable(*model), path).has_value());
  const auto promoted = Model::load(path);
  ASSERT_TRUE(promoted.has_value());
  EXPECT_TRUE(promoted->signatures().empty());
}

TEST_F(TfliteModel, VariablesAreAState) {
  TinyTflite tiny = chain();
  tiny.at(2).is_variable = true;
  const auto model = Model::load(tiny.save(folder()));
  ASSERT_TRUE(model.has_value());
  EXPECT_TRUE(model->stateful());
  EXPECT_TRUE(promotable(*model).empty());
}

TEST(TfliteOperators, HaveTheirNames) {
  EXPECT_EQ(operator_name(0), "ADD");
  EXPECT_EQ(operator_name(3), "CONV_2D");
  EXPECT_EQ(operator_name(kCustomOperator), "CUSTOM");
  EXPECT_EQ(operator_name(kDelegateOperator), "DELEGATE");
  EXPECT_EQ(operator_name(114), "QUANTIZE");
  EXPECT_EQ(operator_name(5000), "BUILTIN_5000");
  EXPECT_EQ(operator_name(-1), "BUILTIN_-1");
}

}  // namespace
}  // namespace paritas::tflite
