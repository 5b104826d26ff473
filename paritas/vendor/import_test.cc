#include "paritas/vendor/import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>

#include "paritas/base/test_files.h"
#include "paritas/onnx/model.h"
#include "paritas/vendor/found.h"
#include "paritas/vendor/net_run.h"
#include "paritas/vendor/raw.h"
#include "paritas/vendor/testing.h"
#include "paritas/vendor/trtexec.h"

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

std::string floats(std::initializer_list<float> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(float)};
}

std::string refusal(const Path& path, const ImportOptions& options = {}) {
  const auto stream = open_any(path, options);
  if (!stream) return stream.error().message();
  for (uint64_t i = 0; i < (*stream)->sample_count(); ++i)
    if (const auto sample = (*stream)->sample(i); !sample) return sample.error().message();
  return "accepted";
}

std::vector<std::string> names(const SampleStream& stream) {
  std::vector<std::string> list;
  for (const auto& tensor : stream.info().tensors)
    list.push_back(fmt::format("{} {} {}", name(tensor.role), name(tensor.dtype), tensor.name));
  return list;
}

// x float32 [1,3] -> /sq/y float32 [1,3], cls int64 [1]
Path write_model(const TestFolder& folder) {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  auto& graph = *model.mutable_graph();
  graph.set_name("g");
  const auto value = [](::onnx::ValueInfoProto* info, const char* name, int type, std::vector<int64_t> dims) {
    info->set_name(name);
    info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    for (const int64_t dim : dims)
      info->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(dim);
  };
  value(graph.add_input(), "x", 1, {1, 3});
  value(graph.add_output(), "/sq/y", 1, {1, 3});
  value(graph.add_output(), "cls", 7, {1});
  auto& square = *graph.add_node();
  square.set_op_type("Mul");
  for (int i = 0; i < 2; ++i) square.add_input("x");
  square.add_output("/sq/y");
  auto& pick = *graph.add_node();
  pick.set_op_type("ArgMax");
  pick.add_input("/sq/y");
  pick.add_output("cls");
  return folder.write("m.onnx", model.SerializeAsString());
}

struct NetRunFolder {
  TestFolder folder;
  NetRunFolder() {
    fs::create_directories(folder.path() / "output/Result_0/sq");
    fs::create_directories(folder.path() / "output/Result_1/sq");
    for (int i = 0; i < 2; ++i) {
      folder.write(fmt::format("x{}.raw", i), floats({1, 2, 3}));
      folder.write(fmt::format("output/Result_{}/sq/y.raw", i), floats({1, 4, 9}));
      folder.write(fmt::format("output/Result_{}/scores:0.raw", i), floats({0.5f}));
    }
    folder.write("input_list.txt", "%sq/y scores:0\nx:=x0.raw\nx:=x1.raw\n");
  }
};

TEST(NetRun, ReadsInputsAndResultsByName) {
  const NetRunFolder dump;
  const auto stream = open_any(dump.folder.path(), {}).value();
  EXPECT_EQ(stream->sample_count(), 2u);
  EXPECT_THAT(names(*stream), ElementsAre("input float32 x", "output float32 scores:0", "output float32 sq/y"));
  const Sample sample = stream->sample(1).value();
  EXPECT_EQ(doubles(sample.tensors[2].second), (std::vector<double>{1, 4, 9}));
  EXPECT_EQ(sample.tensors[2].second.shape, Shape{3});
}

TEST(NetRun, TheModelGivesShapesRolesAndSlashes) {
  const NetRunFolder dump;
  ImportOptions options;
  options.model = write_model(dump.folder);
  dump.folder.write("input_list.txt", "x0.raw\nx1.raw\n");
  const auto stream = open_any(dump.folder.path(), options).value();
  EXPECT_THAT(names(*stream), ElementsAre("input float32 x", "output float32 scores:0", "output float32 /sq/y"));
  EXPECT_EQ(stream->sample(0)->tensors[2].second.shape, (Shape{1, 3}));
  EXPECT_THAT(stream->info().notes, ::testing::Contains(HasSubstr("got the names of the inputs of")));
}

TEST(NetRun, IntegersAreNeverGuessed) {
  const NetRunFolder dump;
  for (int i = 0; i < 2; ++i) dump.folder.write(fmt::format("output/Result_{}/cls.raw", i), floats({2}));
  ImportOptions options;
  options.model = write_model(dump.folder);
  EXPECT_THAT(refusal(dump.folder.path(), options), AllOf(HasSubstr("float32 or int32"), HasSubstr("--dtype cls=")));
  options.dtypes["cls"] = DType::kF32;
  EXPECT_EQ(refusal(dump.folder.path(), options), "accepted");
  for (int i = 0; i < 2; ++i)
    dump.folder.write(fmt::format("output/Result_{}/cls.raw", i), std::string("\2\0\0\0\0\0\0\0", 8));
  options.dtypes.clear();
  EXPECT_EQ(refusal(dump.folder.path(), options), "accepted");  // eight bytes: int64, as the model says
}

TEST(NetRun, RemediesSpeakTheLanguageOfWhoDeclares) {
  const NetRunFolder dump;
  for (int i = 0; i < 2; ++i) dump.folder.write(fmt::format("output/Result_{}/cls.raw", i), floats({2}));
  ImportOptions options;
  options.model = write_model(dump.folder);
  EXPECT_THAT(refusal(dump.folder.path(), options), HasSubstr("say which: --dtype cls=float32"));
  options.table = "recordings.device";
  EXPECT_THAT(refusal(dump.folder.path(), options),
              HasSubstr("say which: dtypes = { cls = \"float32\" } under [recordings.device]"));
  dump.folder.write("input_list.txt", "x:=gone.raw\nx:=x1.raw\n");
  EXPECT_THAT(refusal(dump.folder.path(), options), HasSubstr("with outputs_only under [recordings.device]"));
  options.shapes["z"] = {1};
  dump.folder.write("input_list.txt", "x:=x0.raw\nx:=x1.raw\n");
  options.dtypes["cls"] = DType::kF32;
  EXPECT_THAT(refusal(dump.folder.path(), options), HasSubstr("recordings.device.shapes: \"z\": "));
}

// The same file, called as the model does, as a file below a folder, and as vendor tools write it.
TEST(NetRun, SanitisedNamesGetShapesAndRolesOfTheModel) {
  const NetRunFolder dump;
  for (int i = 0; i < 2; ++i) {
    fs::rename(dump.folder.path() / fmt::format("output/Result_{}/sq/y.raw", i),
               dump.folder.path() / fmt::format("output/Result_{}/sq_y.raw", i));
  }
  ImportOptions options;
  options.model = write_model(dump.folder);
  const auto stream = open_any(dump.folder.path(), options).value();
  EXPECT_THAT(names(*stream), ElementsAre("input float32 x", "output float32 scores:0", "output float32 sq_y"));
  EXPECT_EQ(stream->sample(0)->tensors[2].second.shape, (Shape{1, 3}));
  EXPECT_THAT(stream->info().notes, ::testing::Contains(AllOf(HasSubstr("1 tensor was found in the model by the rule"),
                                                              HasSubstr("\"sq_y\" is \"/sq/y\""))));
}

TEST(NetRun, AmbiguousSanitisedNamesTakeNothing) {
  const NetRunFolder dump;
  fs::remove_all(dump.folder.path() / "output/Result_1");
  fs::rename(dump.folder.path() / "output/Result_0/sq/y.raw", dump.folder.path() / "output/Result_0/sq_y.raw");
  dump.folder.write("input_list.txt", "x:=x0.raw\n");
  auto model = onnx_model::Model::load(write_model(dump.folder)).value();
  model.graph().mutable_node(1)->set_output(0, "sq.y");
  model.graph().mutable_output(1)->set_name("sq.y");
  ImportOptions options;
  options.model = dump.folder.write("two.onnx", model.proto().SerializeAsString());
  const auto stream = open_any(dump.folder.path(), options).value();
  EXPECT_EQ(stream->sample(0)->tensors[2].second.shape, Shape{3});
  EXPECT_THAT(stream->info().notes,
              ::testing::Contains(HasSubstr("\"sq_y\" may be \"/sq/y\" or \"sq.y\" of the model")));
}

TEST(NetRun, RenamedTensorsAreLookedUpByTheirNewName) {
  const NetRunFolder dump;
  fs::remove_all(dump.folder.path() / "output/Result_1");
  fs::rename(dump.folder.path() / "output/Result_0/sq/y.raw", dump.folder.path() / "output/Result_0/op_7.raw");
  dump.folder.write("input_list.txt", "x:=x0.raw\n");
  ImportOptions options;
  options.model = write_model(dump.folder);
  options.names = dump.folder.write("names.json", R"({"op_7": "/sq/y"})");
  const auto shape_of = [&](const ImportOptions& with) {
    const auto stream = open_any(dump.folder.path(), with).value();
    EXPECT_THAT(names(*stream), ElementsAre("input float32 x", "output float32 /sq/y", "output float32 scores:0"));
    return stream->sample(0)->tensors[1].second.shape;
  };
  EXPECT_EQ(shape_of(options), (Shape{1, 3}));
  options.shapes = {{"/sq/y", {3, 1}}};
  EXPECT_EQ(shape_of(options), (Shape{3, 1}));
  options.shapes = {{"op_7", {1, 1, 3}}};
  EXPECT_EQ(shape_of(options), (Shape{1, 1, 3}));
  options.shapes["/sq/y"] = {3, 1};
  EXPECT_THAT(refusal(dump.folder.path(), options), HasSubstr("\"op_7\" is the same tensor, and declared otherwise"));
  options.shapes = {{"op_8", {1, 3}}};
  EXPECT_THAT(refusal(dump.folder.path(), options), HasSubstr("holds no tensor of that name"));
}

TEST(NetRun, NativeFilesNeedAType) {
  const NetRunFolder dump;
  for (int i = 0; i < 2; ++i) dump.folder.write(fmt::format("output/Result_{}/q_native.raw", i), "\1\2\3");
  EXPECT_THAT(refusal(dump.folder.path()), AllOf(HasSubstr("q_native.raw"), HasSubstr("is not known")));
  ImportOptions options;
  options.dtypes["q"] = DType::kU8;
  const auto stream = open_any(dump.folder.path(), options).value();
  EXPECT_EQ(stream->info().find("q")->dtype, DType::kU8);
}

TEST(NetRun, ListsThatLieAreRefused) {
  const NetRunFolder dump;
  const auto with = [&](const std::string& list) {
    dump.folder.write("input_list.txt", list);
    return refusal(dump.folder.path());
  };
  EXPECT_THAT(with("x:=x0.raw\nx:=gone.raw\n"), AllOf(HasSubstr("line 2"), HasSubstr("gone.raw")));
  EXPECT_THAT(with("x:=x0.raw\n"), HasSubstr("has 1 lines of inputs, there are 2"));
  EXPECT_THAT(with("x:=x0.raw y:=x0.raw\nx:=x1.raw\n"), HasSubstr("two inputs claim the file x0.raw"));
  EXPECT_THAT(with("x:=../x0.raw\nx:=x1.raw\n"), HasSubstr("not a file below"));
  EXPECT_THAT(with("x:=/etc/passwd\nx:=x1.raw\n"), HasSubstr("not a file below"));
  EXPECT_THAT(with("x:=x0.raw x:=x1.raw\nx:=x1.raw\n"), HasSubstr("the input \"x\" twice"));
  EXPECT_THAT(with("x:=x0.raw x1.raw\nx:=x1.raw\n"), HasSubstr("some inputs and not others"));
  EXPECT_THAT(with("\xff:=x0.raw\nx:=x1.raw\n"), HasSubstr("not UTF-8"));
  EXPECT_THAT(with("% y\n"), HasSubstr("lists no inputs"));
  fs::create_symlink("/etc/hostname", dump.folder.path() / "out.raw");
  EXPECT_THAT(with("x:=out.raw\nx:=x1.raw\n"), HasSubstr("not a file below"));
}

TEST(NetRun, AMissingResultIsRefused) {
  const NetRunFolder dump;
  fs::rename(dump.folder.path() / "output/Result_0", dump.folder.path() / "output/Result_2");
  EXPECT_THAT(refusal(dump.folder.path()), HasSubstr("Result_0 is missing"));
}

TEST(InputList, ReadsOutputsNamesAndWindowsLines) {
  const InputList good = parse_input_list("#a b\r\n\r\n%c\r\nx:=p y:=q\r\n", "l").value();
  EXPECT_THAT(good.outputs, ElementsAre("a", "b", "c"));
  ASSERT_EQ(good.samples.size(), 1u);
  EXPECT_EQ(good.samples[0][1].name, "y");
  EXPECT_EQ(good.samples[0][1].path, "q");
  EXPECT_EQ(good.lines[0], 4);
}

TEST(Raw, TypeAndShapeComeFromSidecarOrCommandLine) {
  const TestFolder folder;
  const Path path = folder.write("a.raw", floats({1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(refusal(path), AllOf(HasSubstr("type of its 24 bytes is not known"), HasSubstr("float32 [6]")));
  ImportOptions options;
  options.dtype = DType::kF32;
  EXPECT_EQ(open_any(path, options).value()->sample(0)->tensors[0].second.shape, Shape{6});
  options.shapes["a"] = {2, 3};
  EXPECT_EQ(open_any(path, options).value()->sample(0)->tensors[0].second.shape, (Shape{2, 3}));
  folder.write("a.raw.json", R"({"dtype": "float32", "shape": [3, 2]})");
  EXPECT_EQ(open_any(path, {}).value()->sample(0)->tensors[0].second.shape, (Shape{3, 2}));
  folder.write("a.raw.json", R"({"dtype": "float33"})");
  EXPECT_THAT(refusal(path), HasSubstr("\"float33\" is not known"));
}

TEST(Raw, ASizeThatDoesNotFitSaysWhatWould) {
  const TestFolder folder;
  ImportOptions options;
  options.dtypes["a"] = DType::kF32;
  options.shapes["a"] = {1, 3};
  EXPECT_THAT(refusal(folder.write("a.raw", std::string(11, '\0')), options),
              AllOf(HasSubstr("has 11 bytes, float32 [1,3] (the command line) takes 12"), HasSubstr("whole")));
  EXPECT_THAT(refusal(folder.write("a.raw", std::string(6, '\0')), options),
              AllOf(HasSubstr("int16 [1,3]"), HasSubstr("float16 [1,3]"), HasSubstr("would fit")));
  options.shapes["z"] = {1};
  folder.write("a.raw", std::string(12, '\0'));
  EXPECT_THAT(refusal(folder.path() / "a.raw", options), AllOf(HasSubstr("--shape z"), HasSubstr("it holds \"a\"")));
}

TEST(TrtexecJson, ReadsValuesAsTheyAreWritten) {
  const TestFolder folder;
  const std::string text = R"([
  { "name" : "scores"
  , "dimensions" : "1x4"
  , "values" : [ 0.5, nan, -inf, 1e-05 ]
  }, { "name" : "n", "dimensions" : "", "values" : [ 7 ] } ])";
  const auto stream = open_any(folder.write("out.json", text), {}).value();
  const Sample sample = stream->sample(0).value();
  EXPECT_EQ(sample.tensors[0].second.shape, (Shape{1, 4}));
  const auto values = doubles(sample.tensors[0].second);
  EXPECT_EQ(values[0], 0.5);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_EQ(values[2], -INFINITY);
  EXPECT_EQ(sample.tensors[1].second.shape, Shape{});
  EXPECT_THAT(stream->info().notes, ::testing::Contains(HasSubstr("read as float32")));
  ImportOptions options;
  options.dtypes["n"] = DType::kI64;
  EXPECT_EQ(open_any(folder.path() / "out.json", options).value()->info().find("n")->dtype, DType::kI64);
}

TEST(TrtexecJson, BytesAsCharactersAreNamedOrRefused) {
  const TestFolder folder;
  ImportOptions options;
  options.dtypes["a"] = DType::kU8;
  const auto text = [](const std::string& values) {
    return R"([{"name": "a", "dimensions": "2", "values": [ )" + values + " ]}]";
  };
  EXPECT_THAT(open_any(folder.write("o.json", text("5, 7")), options).value()->info().notes,
              ::testing::Contains(HasSubstr("uint8 as characters")));
  EXPECT_THAT(refusal(folder.write("o.json", text("A, 7")), options), HasSubstr("is no uint8"));
}

TEST(TrtexecJson, ValuesThatDoNotFitAreRefused) {
  const TestFolder folder;
  const auto with = [&](const std::string& dims, const std::string& values) {
    return refusal(
        folder.write("o.json", R"([{"name": "a", "dimensions": ")" + dims + R"(", "values": )" + values + "}]"));
  };
  EXPECT_EQ(with("2", "[1, 2]"), "accepted");
  EXPECT_EQ(with("0", "[]"), "accepted");
  EXPECT_THAT(with("3", "[1, 2]"), HasSubstr("has 2 values, its dimensions ask for 3"));
  EXPECT_THAT(with("1", "[1, 2]"), HasSubstr("has 2 values"));
  EXPECT_THAT(with("2", "[1, [2]]"), HasSubstr("is no float32"));
  EXPECT_THAT(with("2", "[1, \"2\"]"), HasSubstr("is no float32"));
  EXPECT_THAT(with("2", "[1, ]"), HasSubstr("is no float32"));
  EXPECT_THAT(with("2", "7"), HasSubstr("not valid JSON"));
  EXPECT_THAT(with("2x", "[1, 2]"), HasSubstr("expected dimensions"));
  EXPECT_THAT(with("-1", "[1, 2]"), HasSubstr("expected dimensions"));
  EXPECT_THAT(with("9999999999x9999999999", "[1]"), HasSubstr("more elements than any file"));
}

TEST(TrtexecRaw, NamesTellEverything) {
  const auto parsed = parse_trtexec_raw_name("a.b.output.1.3.2.Half.raw").value();
  EXPECT_EQ(parsed.name, "a.b");
  EXPECT_EQ(parsed.shape, (Shape{1, 3, 2}));
  EXPECT_EQ(parsed.dtype, DType::kF16);
  EXPECT_EQ(parsed.role, Role::kOutput);
  EXPECT_EQ(parse_trtexec_raw_name("s.input..Int32.raw")->shape, Shape{});
  // As TensorRT's samples spell them.
  const std::pair<const char*, DType> spellings[] = {
      {"fp32", DType::kF32},  {"fp16", DType::kF16},  {"bf16", DType::kBF16}, {"int8", DType::kI8},
      {"int32", DType::kI32}, {"bool", DType::kBool}, {"uint8", DType::kU8},  {"fp8", DType::kF8E4M3FN},
      {"int64", DType::kI64}, {"int4", DType::kI4}};
  for (const auto& [spelling, dtype] : spellings)
    EXPECT_EQ(parse_trtexec_raw_name(std::string("y.output.1.2.") + spelling + ".raw")->dtype, dtype) << spelling;
  for (const char* file :
       {"a.raw", "a.output.1.raw", "a.output.1.Text.raw", ".output.1.Half.raw", "a.output.x.Half.raw"})
    EXPECT_FALSE(parse_trtexec_raw_name(file)) << file;
  const TestFolder folder;
  folder.write("x.input.2.Float.raw", floats({1, 2}));
  folder.write("y.output.2.Float.raw", floats({1, 4}));
  EXPECT_THAT(names(*open_any(folder.path(), {}).value()), ElementsAre("input float32 x", "output float32 y"));
  folder.write("y.output.2.Float.raw", std::string(7, '\0'));
  EXPECT_THAT(refusal(folder.path()), HasSubstr("has 7 bytes, float32 [2] (its name) takes 8"));
}

TEST(Folder, HoldsTensorsOrSamples) {
  const TestFolder folder;
  fs::create_directory(folder.path() / "sub");
  folder.write("a10.npy", npy_text("'<f4'", "(1,)", floats({1})));
  folder.write("a2.npy", npy_text("'<f4'", "(1,)", floats({1})));
  folder.write("sub/b.npy", npy_text("'<f4'", "(1,)", floats({1})));
  EXPECT_THAT(names(*open_any(folder.path(), {}).value()),
              ElementsAre("output float32 a2", "output float32 a10", "output float32 sub/b"));
  ZipMaker zip;
  zip.add("a.npy", npy_text("'<f4'", "(1,)", floats({1})), false);
  folder.write("s.npz", zip.finish());
  EXPECT_THAT(refusal(folder.path()), HasSubstr("holds .npy and .npz files"));
}

TEST(Folder, LinksOutAndSecondNamesAreRefused) {
  const TestFolder outside;
  const Path secret = outside.write("s.npy", npy_text("'<f4'", "(1,)", floats({1})));
  const TestFolder folder;
  folder.write("a.npy", npy_text("'<f4'", "(1,)", floats({1})));
  fs::create_symlink(secret, folder.path() / "b.npy");
  EXPECT_THAT(refusal(folder.path()), HasSubstr("does not stay inside"));
  fs::remove(folder.path() / "b.npy");
  fs::create_symlink("a.npy", folder.path() / "b.npy");
  EXPECT_THAT(refusal(folder.path()), HasSubstr("two tensors cannot share one file"));
  fs::remove(folder.path() / "b.npy");
  folder.write("\xff.npy", npy_text("'<f4'", "(1,)", floats({1})));
  EXPECT_THAT(refusal(folder.path()), AllOf(HasSubstr("\\xff.npy"), HasSubstr("not UTF-8")));
}

TEST(OpenAny, PicklesAreRefusedAndUnknownFormatsListed) {
  const TestFolder folder;
  EXPECT_THAT(refusal(folder.write("a.pkl", "x")), AllOf(HasSubstr("Python pickle"), HasSubstr("numpy.savez")));
  EXPECT_THAT(refusal(folder.write("a.pt", "x")), HasSubstr("Python pickle"));
  EXPECT_THAT(refusal(folder.write("a.dat", "\x80\x04N.")), HasSubstr("Python pickle"));
  EXPECT_THAT(refusal(folder.write("a.xyz", "x")), AllOf(HasSubstr("in a format that is read"), HasSubstr("net-run")));
  EXPECT_THAT(refusal(folder.path() / "none"), HasSubstr("no such file"));
  ImportOptions options;
  options.format = "tflite";
  EXPECT_THAT(refusal(folder.path() / "a.xyz", options), HasSubstr("is not a format; there are: recording, npy"));
  const TestFolder both;
  both.write("a.npy", npy_text("'<f4'", "(1,)", floats({1})));
  both.write("b.raw", floats({1}));
  EXPECT_THAT(refusal(both.path()), AllOf(HasSubstr("fits several formats: folder and raw"), HasSubstr("--format")));
}

TEST(OpenAny, NamesFilesRename) {
  const TestFolder folder;
  ZipMaker zip;
  zip.add("Output_0.npy", npy_text("'<f4'", "(1,)", floats({1})), false);
  zip.add("Output_1.npy", npy_text("'<f4'", "(1,)", floats({1})), false);
  const Path path = folder.write("a.npz", zip.finish());
  ImportOptions options;
  options.names = folder.write("n.json", R"({"Output_0": "/a:0"})");
  EXPECT_THAT(names(*open_any(path, options).value()), ElementsAre("output float32 /a:0", "output float32 Output_1"));
  folder.write("n.json", R"({"Output_0": "a", "Output_1": "a"})");
  EXPECT_THAT(refusal(path, options), HasSubstr("two tensors are called \"a\""));
  folder.write("n.json", R"({"other": "a"})");
  EXPECT_THAT(refusal(path, options), HasSubstr("names no tensor of the dump"));
}

TEST(OpenAny, DeclaredTypesReinterpretOnlyUnsignedCarriers) {
  const TestFolder folder;
  ZipMaker zip;
  zip.add("a.npy", npy_text("'<u2'", "(1,)", std::string("\x80\x3f", 2)), false);
  zip.add("b.npy", npy_text("'|u1'", "(2,)", "\x21\x03"), false);
  zip.add("c.npy", npy_text("'<f4'", "(1,)", floats({1})), false);
  const Path path = folder.write("a.npz", zip.finish());
  ImportOptions options;
  options.dtypes = {{"a", DType::kBF16}, {"b", DType::kI4}};
  options.shapes = {{"b", {3}}};
  const Sample sample = open_any(path, options).value()->sample(0).value();
  EXPECT_EQ(doubles(sample.tensors[0].second), (std::vector<double>{1}));
  EXPECT_EQ(doubles(sample.tensors[1].second), (std::vector<double>{1, 2, 3}));
  options.dtypes["c"] = DType::kI32;
  EXPECT_THAT(refusal(path, options), HasSubstr("holds it as float32"));
}

// Names that change places: a declaration means the tensor that has the name in the end.
TEST(OpenAny, DeclarationsFollowNamesThatSwap) {
  const TestFolder folder;
  folder.write("a.raw", floats({1, 2}));
  folder.write("b.raw", floats({1, 2}));
  ImportOptions options;
  options.dtype = DType::kF32;
  options.names = folder.write("n.json", R"({"a": "b", "b": "a"})");
  options.shapes["a"] = {1, 2};
  options.format = "raw";
  const Sample sample = open_any(folder.path(), options).value()->sample(0).value();
  for (const auto& [name, tensor] : sample.tensors) EXPECT_EQ(tensor.shape, name == "a" ? (Shape{1, 2}) : Shape{2});
}

TEST(OpenAny, SharedDeclarationsAreTakenWhereNothingTells) {
  const TestFolder folder;
  ZipMaker zip;
  zip.add("a.npy", npy_text("'<f4'", "(2,)", floats({1, 2})), false);
  const Path told = folder.write("told.npz", zip.finish());
  const Path open = folder.write("a.raw", std::string(8, '\0'));
  TakenDeclarations taken;
  ImportOptions options;
  options.taken = &taken;
  options.dtypes["a"] = DType::kI32;
  EXPECT_EQ(open_any(told, options).value()->info().find("a")->dtype, DType::kF32);
  EXPECT_THAT(check_taken(options, taken).error().message(), HasSubstr("--dtype a: no source has a tensor"));
  EXPECT_EQ(open_any(open, options).value()->info().find("a")->dtype, DType::kI32);
  EXPECT_TRUE(check_taken(options, taken));
  options.runner = "N0";
  EXPECT_THAT(check_taken(options, taken).error().message(), HasSubstr("--runner N0: no source holds"));
}

TEST(OpenAny, FormatsAreListed) {
  for (const FormatInfo& format : import_formats()) EXPECT_FALSE(format.what.empty()) << format.name;
}

TEST(NaturalOrder, CountsNumbers) {
  EXPECT_TRUE(natural_less("a2", "a10"));
  EXPECT_FALSE(natural_less("a10", "a2"));
  EXPECT_TRUE(natural_less("a", "a0"));
  EXPECT_TRUE(natural_less("a01", "a1") != natural_less("a1", "a01"));
  EXPECT_FALSE(natural_less("a", "a"));
}

}  // namespace
}  // namespace paritas
