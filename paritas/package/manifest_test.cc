#include "paritas/package/manifest.h"

#include <functional>

#include <gmock/gmock.h>

#include "paritas/package/testing.h"

namespace paritas {
namespace {

using ::testing::HasSubstr;

class ManifestTest : public ::testing::Test {
 protected:
  // The manifest as written, after `change`, read again.
  Result<Manifest> read(const std::function<void(Json&)>& change) {
    Manifest manifest = package_test::write_package(folder_.path());
    EXPECT_TRUE(write_manifest(folder_.path(), manifest).has_value());
    auto json = parse_json(TestFolder::read(folder_.path() / kManifestName), "manifest.json");
    EXPECT_TRUE(json.has_value());
    change(*json);
    auto changed = parse_json(dump_json(*json), "manifest.json");
    return manifest_from_json(*changed, "manifest.json");
  }
  std::string refusal(const std::function<void(Json&)>& change) {
    const auto manifest = read(change);
    return manifest ? "accepted" : manifest.error().message();
  }
  TestFolder folder_;
};

TEST_F(ManifestTest, ComesBackAsItWasWritten) {
  const auto manifest = read([](Json&) {});
  ASSERT_TRUE(manifest.has_value()) << manifest.error().message();
  auto again = parse_json(dump_json(to_json(*manifest)), "again");
  EXPECT_EQ(dump_json(*again), TestFolder::read(folder_.path() / kManifestName).substr(0, dump_json(*again).size()));
  EXPECT_EQ(manifest->parts.front().trace->source_ops, 12u);
  EXPECT_EQ(manifest->files.size(), 6u);
  EXPECT_EQ(manifest->boundary("feature_0")->source, "/enc/Relu_output_0");
}

TEST_F(ManifestTest, PartsMustHangTogether) {
  EXPECT_THAT(refusal([](Json& m) { m["parts"][1]["inputs"][0]["tensor"] = "feature_1"; }),
              HasSubstr("the part \"decoder\" reads \"feature_1\", which nothing before it makes"));
  EXPECT_THAT(refusal([](Json& m) { m["parts"][1]["outputs"][0]["tensor"] = "feature_0"; }),
              HasSubstr("\"feature_0\" is made twice"));
  EXPECT_THAT(refusal([](Json& m) { m["outputs"][0]["name"] = "z"; }),
              HasSubstr("\"y\" is no input, no output, and no tensor of a cut"));
  EXPECT_THAT(refusal([](Json& m) {
                m["outputs"].push_back(m["outputs"][0]);
                m["outputs"][1]["name"] = "z";
              }),
              HasSubstr("no part makes the output \"z\""));
  // What is left out would be checked by nobody.
  EXPECT_THAT(refusal([](Json& m) { m["outputs"] = Json::array(); }), HasSubstr("it has no outputs"));
  EXPECT_THAT(refusal([](Json& m) { m["outputs"].push_back(m["outputs"][0]); }), HasSubstr("stands twice"));
  EXPECT_THAT(refusal([](Json& m) { m["cuts"] = Json::array(); }), HasSubstr("no tensor of a cut"));
  EXPECT_THAT(refusal([](Json& m) { m["inputs"][0]["shape"] = {1, 5}; }), HasSubstr("two types or shapes"));
  EXPECT_THAT(refusal([](Json& m) { m["parts"][0]["name"] = "../x"; }), HasSubstr("cannot be a file's"));
  EXPECT_THAT(refusal([](Json& m) { m["reference"]["folder"] = "../p/reference"; }),
              HasSubstr("reference is not listed"));
  EXPECT_THAT(refusal([](Json& m) { m["parts"][1]["name"] = "encoder"; }),
              HasSubstr("two parts are called \"encoder\""));
  EXPECT_THAT(refusal([](Json& m) { m["parts"] = Json::array(); }), HasSubstr("it has no parts"));
}

TEST_F(ManifestTest, FilesMustBeListedWithOneHash) {
  EXPECT_THAT(refusal([](Json& m) { m["parts"][0]["file"] = "other.onnx"; }),
              HasSubstr("\"other.onnx\" is named but not listed"));
  EXPECT_THAT(refusal([](Json& m) { m["parts"][1]["sha256"] = std::string(64, '0'); }),
              HasSubstr("two SHA-256 are given for \"decoder.onnx\""));
  EXPECT_THAT(refusal([](Json& m) { m["chain_gates"]["sha256"] = std::string(64, '0'); }),
              HasSubstr("two SHA-256 are given for \"gates.json\""));
  EXPECT_THAT(refusal([](Json& m) { m["files"].push_back(m["files"][0]); }), HasSubstr("is listed twice"));
}

TEST_F(ManifestTest, ATraceOfAnotherContextIsRefused) {
  EXPECT_THAT(refusal([](Json& m) { m["parts"][0]["op_trace"]["context_sha256"] = std::string(64, '0'); }),
              HasSubstr("belongs to another context"));
}

TEST_F(ManifestTest, WrongTypesAreNamed) {
  EXPECT_THAT(refusal([](Json& m) { m["schema"] = "paritas.package/2"; }), HasSubstr("schema paritas.package/1"));
  EXPECT_THAT(refusal([](Json& m) { m.erase("cuts"); }), HasSubstr("\"cuts\" is missing"));
  EXPECT_THAT(refusal([](Json& m) { m["parts"][0]["compiled"] = "yes"; }),
              HasSubstr("\"compiled\" is not true or false"));
  EXPECT_THAT(refusal([](Json& m) { m["inputs"][0]["shape"] = {-1, 4}; }), HasSubstr("is no dimension"));
  EXPECT_THAT(refusal([](Json& m) { m["inputs"][0]["dtype"] = "float31"; }), HasSubstr("unknown element type"));
  EXPECT_THAT(refusal([](Json& m) { m["parts"] = 3; }), HasSubstr("\"parts\" is not an array"));
}

}  // namespace
}  // namespace paritas
