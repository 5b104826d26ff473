#include "paritas/delivery/compare_packages.h"

#include <gmock/gmock.h>

#include "paritas/compare/compare.h"
#include "paritas/delivery/verify.h"
#include "paritas/onnx/testing.h"
#include "paritas/package/testing.h"
#include "paritas/recording/recording.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;
using onnx_model::testing::floats;
using onnx_model::testing::GraphBuilder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// How a package differs from the usual one.
struct Recipe {
  std::string context = "the context of the encoder";
  std::vector<float> weights = {1, 2, 3, 4};
  std::string doc;  // of the decoder: other bytes, nothing else
  std::vector<std::vector<float>> samples = {{1, 1, 1, 1}, {2, 2, 2, 2}};
  float reference = 1;  // factor of the recorded outputs
  float device = 1.5F;  // factor of the verified chain's outputs against the reference
  std::string gates = R"({"gate": [{"tensor": "y", "metric": "cosine", "op": ">=", "value": 0.9}]})";
  std::function<void(Manifest&)> edit;
  std::string extra;  // name of a file that the manifest does not explain
};

class ComparePackages : public ::testing::Test {
 protected:
  void record(const Path& folder, const Recipe& recipe, float factor) const {
    auto writer = RecordingWriter::create(folder, true);
    ASSERT_TRUE(writer.has_value());
    RunInfo info;
    for (const std::vector<float>& sample : recipe.samples) {
      const Tensor x = floats({1, 4}, sample), feature = floats({1, 2}, {sample[0], sample[1]});
      const Tensor y = floats({1, 2}, {sample[0] * factor, sample[1]});
      ASSERT_TRUE(writer->add_sample({{"x", x}, {"feature_0", feature}, {"y", y}}).has_value());
    }
    info.tensors = {{"x", DType::kF32, {}, Role::kInput, {}, {}, {}},
                    {"feature_0", DType::kF32, {}, Role::kIntermediate, {}, {}, {}},
                    {"y", DType::kF32, {}, Role::kOutput, {}, {}, {}}};
    ASSERT_TRUE(writer->finish(info).has_value());
  }

  // As paritas verify writes it.
  Json verified(const Path& package, const Recipe& recipe) const {
    record(folder_.path() / "device", recipe, recipe.reference * recipe.device);
    auto reference = open_samples(package / "reference", {}), device = open_samples(folder_.path() / "device", {});
    VerifyResult result;
    result.verdict = Verdict::kPass;
    result.reasons = {"chain: holds"};
    result.checks = {{"chain", Verdict::kPass, "holds", "a", "b"}};
    result.chain.emplace();
    result.chain->verdict = Verdict::kPass;
    result.chain->comparison = compare_streams(**reference, **device, {}).value();
    return to_json(result);
  }

  Path make(const std::string& name, const Recipe& recipe = {}) const {
    const Path package = folder_.path() / name;
    fs::create_directory(package);
    Manifest manifest = package_test::write_package(package);
    fs::remove_all(package / "reference");
    record(package / "reference", recipe, recipe.reference);
    auto write = [&](const std::string& file, const std::string& content) {
      std::ofstream(package / file, std::ios::binary) << content;
    };
    write("encoder_ctx.onnx", recipe.context);
    GraphBuilder decoder;
    decoder.input("feature_0", {1, 2}).output("y").initializer("w", floats({2, 2}, recipe.weights));
    decoder.node("MatMul", {"feature_0", "w"}, {"y"});
    ::onnx::ModelProto proto = decoder.proto();
    proto.set_doc_string(recipe.doc);
    write("decoder.onnx", proto.SerializeAsString());
    write("gates.json", recipe.gates);
    if (!recipe.extra.empty()) write(recipe.extra, "extra");
    for (PackagePart& part : manifest.parts) part.sha256 = *sha256_of_file(package / part.file);
    manifest.parts[0].trace->context_sha256 = manifest.parts[0].sha256;
    manifest.chain_gates.sha256 = *sha256_of_file(package / "gates.json");
    manifest.reference.samples = recipe.samples.size();
    manifest.verification = verified(package, recipe);
    if (recipe.edit) recipe.edit(manifest);
    EXPECT_TRUE(seal(package, manifest).has_value());
    return package;
  }

  PackageDiff compare(const Recipe& after, const Recipe& before = {}) const {
    const Path a = make("before", before), b = make("after", after);
    auto diff = compare_packages({a, b, 1, {}});
    EXPECT_TRUE(diff.has_value()) << diff.error().message();
    return diff.value_or(PackageDiff{});
  }

  static std::vector<std::string> mattering(const PackageDiff& diff) {
    std::vector<std::string> areas;
    for (const PackageArea& area : diff.areas)
      if (area.matters) areas.push_back(area.name);
    return areas;
  }
  static std::vector<std::string> subjects(const PackageDiff& diff) {
    std::vector<std::string> all;
    for (const PackageFact& fact : diff.facts) all.push_back(fact.subject);
    return all;
  }
  TestFolder folder_;
};

TEST_F(ComparePackages, TheSamePackageTwiceIsTheSame) {
  const PackageDiff diff = compare({});
  EXPECT_FALSE(diff.changed);
  EXPECT_EQ(diff.finding.id, "packages-alike");
  EXPECT_THAT(subjects(diff), IsEmpty());
  EXPECT_THAT(mattering(diff), IsEmpty());
  EXPECT_EQ(diff.reference.shared, 2);
}

TEST_F(ComparePackages, DatesCommandsHostsAndTimesDoNotMatter) {
  Recipe after;
  after.edit = [](Manifest& m) {
    m.created = "2026-12-01T00:00:00Z";
    m.command = {"paritas", "split", "other.onnx"};
    m.tool_version = "0.2.0";
    m.source_name = "other.onnx";
    m.source_sha256 = std::string(64, 'c');
    m.environment.host = "another";
    m.parts[0].build_seconds = 9;
    m.cuts[0].name = "front";
    m.notes = {};
    m.tried = {};
  };
  const PackageDiff diff = compare(after);
  EXPECT_FALSE(diff.changed);
  EXPECT_THAT(diff.finding.text, HasSubstr("Different all the same: cut, source, made, timings."));
}

TEST_F(ComparePackages, AChangedWeightIsTold) {
  Recipe after;
  after.weights = {1, 2, 3, 5};
  const PackageDiff diff = compare(after);
  EXPECT_TRUE(diff.changed);
  EXPECT_EQ(diff.finding.id, "package-weights");
  EXPECT_THAT(diff.finding.text, HasSubstr("decoder: 1 of 1 constants changed, most \"w\" (NMSE 0.033, largest"));
  EXPECT_THAT(mattering(diff), ElementsAre("weights"));
  EXPECT_DOUBLE_EQ(diff.parts[1].constants[0].metrics->nmse, 1.0 / 30);
}

TEST_F(ComparePackages, OtherBytesAroundTheSameModelAreNoChange) {
  Recipe after;
  after.doc = "saved again";
  const PackageDiff diff = compare(after);
  EXPECT_FALSE(diff.changed);
  EXPECT_EQ(diff.parts[1].told_by, "content");
  EXPECT_EQ(diff.files[0].difference, Difference::kChanged);  // decoder.onnx, and it is listed
  EXPECT_THAT(diff.notes, ElementsAre(HasSubstr("differs in bytes, not in what is compared")));
}

TEST_F(ComparePackages, AContextIsToldByItsHash) {
  Recipe after;
  after.context = "another context of the encoder";
  const PackageDiff diff = compare(after);
  EXPECT_EQ(diff.finding.id, "package-context");
  EXPECT_EQ(diff.parts[0].told_by, "hash");
  EXPECT_THAT(diff.notes, ElementsAre(HasSubstr("told by its hash")));
  EXPECT_THAT(mattering(diff), ElementsAre("contexts"));
}

TEST_F(ComparePackages, TheContractComesBeforeAllElse) {
  Recipe after;
  after.weights = {1, 2, 3, 5};
  after.edit = [](Manifest& m) {
    m.inputs[0].meaning = "four other numbers";
    m.inputs[0].picture = Json{{"resize", "bilinear"}, {"size", {2, 2}}};
    m.outputs[0].role = "logits";
  };
  const PackageDiff diff = compare(after);
  EXPECT_EQ(diff.finding.id, "package-contract");
  EXPECT_THAT(diff.finding.text, HasSubstr("input x: meaning was four numbers, is four other numbers and 2 more"));
  EXPECT_THAT(diff.finding.text, HasSubstr("Also changed: weights."));
  EXPECT_THAT(subjects(diff), ElementsAre("input x: meaning", "input x: picture", "output y: role"));
}

TEST_F(ComparePackages, StepsOfAPictureAreComparedOneByOne) {
  auto picture = [](int width) {
    return [width](Manifest& m) { m.inputs[0].picture = Json{{"resize", "bilinear"}, {"size", {width, 2}}}; };
  };
  Recipe before, after;
  before.edit = picture(2);
  after.edit = picture(4);
  const PackageDiff diff = compare(after, before);
  EXPECT_THAT(subjects(diff), ElementsAre("input x: picture: size"));
  EXPECT_EQ(diff.facts[0].before, "[2,2]");
}

TEST_F(ComparePackages, AnotherCutIsToldByItsTensors) {
  Recipe after;
  after.edit = [](Manifest& m) { m.cuts[0].tensors[0].source = "/enc/Add_output_0"; };
  const PackageDiff diff = compare(after);
  EXPECT_EQ(diff.finding.id, "package-cut");
  EXPECT_THAT(diff.finding.text, HasSubstr("cut 1: feature_0: source was /enc/Relu_output_0, is /enc/Add_output_0"));
  ASSERT_EQ(diff.reference.tensors.size(), 1);  // feature_0 is another tensor now: not compared
  EXPECT_EQ(diff.reference.tensors[0].name, "y");
}

TEST_F(ComparePackages, PartsTargetsOptionsAndThreads) {
  Recipe after;
  after.edit = [](Manifest& m) {
    m.parts[1].target = "cpu,opt=basic";
    m.parts[1].optimisation = "basic";
    m.parts[1].threads = 4;
    m.parts[0].options["vtcm_mb"] = "8";
  };
  const PackageDiff diff = compare(after);
  EXPECT_EQ(diff.finding.id, "package-parts");
  EXPECT_THAT(subjects(diff), ElementsAre("part encoder: option vtcm_mb", "part decoder: target",
                                          "part decoder: optimisation", "part decoder: threads"));
  EXPECT_FALSE(diff.facts[0].before.has_value());
}

TEST_F(ComparePackages, AnUpgradedLibraryIsOneChange) {
  Recipe before, after;
  before.edit = [](Manifest& m) { m.environment.libraries[0].name = "libonnxruntime.so.1.32.0"; };
  after.edit = [](Manifest& m) {
    m.environment.libraries[0] = {"libonnxruntime.so.1.33.0", "1.33.0", std::string(64, 'd')};
    m.environment.device["soc_model"] = "87";
    m.parts[0].context->sdk_version = "2.51";
  };
  const PackageDiff diff = compare(after, before);
  EXPECT_EQ(diff.finding.id, "package-environment");
  EXPECT_THAT(subjects(diff), UnorderedElementsAre("part encoder: SDK that compiled it", "library libonnxruntime",
                                                   "device: soc_model"));
}

TEST_F(ComparePackages, GatesAndTasks) {
  Recipe after;
  after.gates = R"({"gate": [{"tensor": "y", "metric": "cosine", "op": ">=", "value": 0.8}]})";
  after.edit = [](Manifest& m) { m.tasks = Json::array({{{"name", "find"}, {"type", "detection"}}}); };
  const PackageDiff diff = compare(after);
  EXPECT_EQ(diff.finding.id, "package-gates");
  EXPECT_THAT(mattering(diff), ElementsAre("gates", "tasks"));
  EXPECT_EQ(diff.facts[0].before, "y: cosine >= 0.9");
  EXPECT_EQ(diff.facts[1].after, "y: cosine >= 0.8");
}

TEST_F(ComparePackages, SamplesArePairedByTheirInputs) {
  Recipe after;
  after.samples = {{2, 2, 2, 2}, {1, 1, 1, 1}};
  PackageDiff diff = compare(after);
  EXPECT_FALSE(diff.changed);
  EXPECT_TRUE(diff.reference.reordered);
  after.samples = {{2, 2, 2, 2}, {3, 3, 3, 3}};
  diff = compare(after);
  EXPECT_THAT(diff.reference.only_before, ElementsAre("sample-000000"));
  EXPECT_THAT(diff.reference.only_after, ElementsAre("sample-000001"));
  EXPECT_THAT(diff.finding.text, HasSubstr("1 sample shared, 1 only in the first, 1 only in the second"));
  EXPECT_EQ(diff.reference.tensors[0].samples, 1);
}

// y of sample 1 is (2, 2), then (2.5, 2): NMSE = 0.25 / 8.
TEST_F(ComparePackages, AnotherReferenceIsHeldAgainstTheFirst) {
  Recipe after;
  after.reference = 1.25F;
  const PackageDiff diff = compare(after);
  EXPECT_THAT(mattering(diff), ElementsAre("reference outputs", "verification"));
  EXPECT_EQ(diff.finding.id, "package-reference");
  const ComparedReferenceTensor& y = diff.reference.tensors[0];
  EXPECT_EQ(y.name, "y");
  EXPECT_EQ(y.equal, 0);
  EXPECT_DOUBLE_EQ(y.worst->nmse, 0.25 / 8);
  EXPECT_EQ(diff.reference.tensors[1].equal, 2);  // feature_0
}

// Of (2, 2) the chain makes (3, 2), then (4, 2): the largest difference is 1, then 2.
TEST_F(ComparePackages, FiguresOfTheVerificationStandSideBySide) {
  Recipe after;
  after.device = 2;
  const PackageDiff diff = compare(after);
  EXPECT_EQ(diff.finding.id, "package-results");
  const auto it = std::find_if(diff.verification.figures.begin(), diff.verification.figures.end(),
                               [](const ComparedFigure& f) { return f.subject == "y" && f.figure == "max_abs"; });
  ASSERT_NE(it, diff.verification.figures.end());
  EXPECT_EQ(it->before, 1);
  EXPECT_EQ(it->after, 2);
  EXPECT_EQ(it->scope, "chain");
}

TEST_F(ComparePackages, AVerdictThatFellIsToldBeforeWeights) {
  Recipe after;
  after.weights = {1, 2, 3, 5};
  after.edit = [](Manifest& m) { m.verification["verdict"] = "deviates"; };
  const PackageDiff diff = compare(after);
  EXPECT_EQ(diff.finding.id, "package-verdict");
  EXPECT_THAT(diff.finding.text, AllOf(HasSubstr("\"pass\" before, \"deviates\" after"), HasSubstr("weights")));
}

TEST_F(ComparePackages, APackageThatWasNeverVerifiedSaysSo) {
  Recipe after;
  after.edit = [](Manifest& m) { m.verification = Json(); };
  EXPECT_THAT(compare(after).finding.text, HasSubstr("\"pass\" before, \"not verified\" after"));
}

TEST_F(ComparePackages, AFileOfUnknownMeaningMatters) {
  Recipe after;
  after.extra = "readme.txt";
  const PackageDiff diff = compare(after);
  EXPECT_EQ(diff.finding.id, "package-files");
  EXPECT_THAT(diff.finding.text, HasSubstr("readme.txt added"));
}

TEST_F(ComparePackages, TimingsAreNeverDivided) {
  auto rounds = [](int threads) {
    return [threads](Manifest& m) {
      m.timings = Json::array({{{"conditions", {{"threads", threads}}}, {"median", 0.01 * threads}}});
    };
  };
  Recipe before, after;
  before.edit = rounds(1);
  after.edit = rounds(2);
  PackageDiff diff = compare(after, before);
  EXPECT_FALSE(diff.timings.same_conditions);
  EXPECT_THAT(diff.timings.text, HasSubstr("different conditions"));
  EXPECT_FALSE(diff.changed);
  after.edit = rounds(1);
  diff = compare(after, before);
  EXPECT_TRUE(diff.timings.same_conditions);
  after.edit = [](Manifest& m) { m.timings = Json::array({{{"median", 0.01}}}); };
  diff = compare(after, before);
  EXPECT_FALSE(diff.timings.same_conditions);
  EXPECT_THAT(diff.timings.text, HasSubstr("does not state its conditions"));
}

TEST_F(ComparePackages, ADamagedPackageIsRefused) {
  const Path a = make("before"), b = make("after");
  std::ofstream(b / "decoder.onnx", std::ios::app) << "x";
  const auto diff = compare_packages({a, b, 1, {}});
  ASSERT_FALSE(diff.has_value());
  EXPECT_THAT(diff.error().message(), HasSubstr("decoder.onnx"));
}

TEST_F(ComparePackages, AVerificationThatIsNoneIsAnError) {
  Recipe after;
  after.edit = [](Manifest& m) { m.verification = Json{{"verdict", 7}}; };
  const Path a = make("before"), b = make("after", after);
  const auto diff = compare_packages({a, b, 1, {}});
  ASSERT_FALSE(diff.has_value());
  EXPECT_THAT(diff.error().message(), AllOf(HasSubstr("manifest.json"), HasSubstr("verdict")));
}

TEST(PackageFacts, LongValuesAreShownWhereTheyDiffer) {
  const std::string common(100, 'x');
  const auto [before, after] = brief_values({"made", "command", common + "left", common + "right", false}, 40);
  EXPECT_EQ(before, "...xxxxxxxxxxxxleft");
  EXPECT_EQ(after, "...xxxxxxxxxxxxright");
  const auto [absent, all] = brief_values({"made", "command", {}, std::string(100, 'y'), false}, 10);
  EXPECT_EQ(absent, "-");
  EXPECT_EQ(all, "yyyyyyy...");
}

}  // namespace
}  // namespace paritas
