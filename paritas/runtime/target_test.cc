#include "paritas/runtime/target.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/runtime/find_library.h"

namespace paritas {
namespace {

using ::testing::HasSubstr;

TargetSpec spec(const std::string& text) {
  auto parsed = TargetSpec::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(TargetSpec{});
}

std::string parse_failure(const std::string& text) {
  auto parsed = TargetSpec::parse(text);
  EXPECT_FALSE(parsed.has_value()) << text;
  return parsed ? "" : parsed.error().message();
}

Error resolve_failure(const std::string& text, const RuntimeSearch& search = {}) {
  auto resolved = resolve_target(spec(text), search);
  EXPECT_FALSE(resolved.has_value()) << text;
  return resolved ? Error{} : resolved.error();
}

// A Python environment with empty files where libraries would lie.
class TargetFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::create(::testing::TempDir());
    ASSERT_TRUE(made.has_value());
    scratch_.emplace(std::move(*made));
    search_.python_site_folders = {scratch_->path() / "empty", scratch_->path() / "site"};
  }
  Path touch(const std::string& relative) {
    const Path path = scratch_->path() / relative;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "x";
    return path;
  }
  std::optional<ScratchFolder> scratch_;
  RuntimeSearch search_;
};

TEST(TargetSpec, TakesNameVariantAndOptions) {
  const TargetSpec parsed = spec("qnn:htp,soc_model=77,session.x=1,op_packages=\"a,b=c\",last=");
  EXPECT_EQ(parsed.name, "qnn");
  EXPECT_EQ(parsed.variant, "htp");
  EXPECT_EQ(parsed.options, (std::map<std::string, std::string>{
                                {"soc_model", "77"}, {"session.x", "1"}, {"op_packages", "a,b=c"}, {"last", ""}}));
  EXPECT_EQ(spec("cpu").name, "cpu");
  EXPECT_TRUE(spec("cpu").options.empty());
  EXPECT_EQ(spec("cpu,threads=2").options.at("threads"), "2");
  EXPECT_EQ(spec("ort:X,library=/a:b/c.so").options.at("library"), "/a:b/c.so");
}

TEST(TargetSpec, RefusesWhatItDoesNotUnderstand) {
  EXPECT_THAT(parse_failure(""), HasSubstr("name[:variant]"));
  EXPECT_THAT(parse_failure(":fp16"), HasSubstr("name[:variant]"));
  EXPECT_THAT(parse_failure("threads=2"), HasSubstr("name[:variant]"));
  EXPECT_THAT(parse_failure("cpu,threads"), HasSubstr("key=value"));
  EXPECT_THAT(parse_failure("cpu,threads,opt=none"), HasSubstr("\"threads\" is not key=value"));
  EXPECT_THAT(parse_failure("cpu,=2"), HasSubstr("key=value"));
  EXPECT_THAT(parse_failure("cpu,"), HasSubstr("comma"));
  EXPECT_THAT(parse_failure("cpu,a=1,"), HasSubstr("comma"));
  EXPECT_THAT(parse_failure("cpu,a=\"1"), HasSubstr("not closed"));
  EXPECT_THAT(parse_failure("cpu,a=\"1\"b=2"), HasSubstr("comma is missing"));
  EXPECT_THAT(parse_failure("cpu,a=1,a=2"), HasSubstr("twice"));
}

TEST(Target, CpuDefaultsLeaveTheGraphAlone) {
  auto target = resolve_target(spec("cpu"), {});
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(target->provider, "CPUExecutionProvider");
  EXPECT_EQ(target->threads, 1);
  EXPECT_EQ(target->optimisation, "none");
  EXPECT_FALSE(target->capabilities.device);
  EXPECT_FALSE(target->simulate);
  auto tuned = resolve_target(spec("cpu,threads=4,opt=extended,session.a=b"), {});
  ASSERT_TRUE(tuned.has_value());
  EXPECT_EQ(tuned->threads, 4);
  EXPECT_EQ(tuned->optimisation, "extended");
  EXPECT_EQ(tuned->session_entries.at("session.a"), "b");
}

TEST(Target, WrongOptionsNameTheKnownOnes) {
  EXPECT_THAT(resolve_failure("cpu,thread=2").message(), HasSubstr("known are inter, mode, opt, threads"));
  EXPECT_THAT(resolve_failure("cpu,threads=0").message(), HasSubstr("1 to 1024"));
  EXPECT_THAT(resolve_failure("cpu,threads=2x").message(), HasSubstr("1 to 1024"));
  EXPECT_THAT(resolve_failure("cpu,opt=fast").message(), HasSubstr("none, basic, extended, all"));
  EXPECT_THAT(resolve_failure("cpu:gpu").message(), HasSubstr("no variants"));
  EXPECT_THAT(resolve_failure("sim:fp16,opt=all").message(), HasSubstr("known are overflow, threads"));
  EXPECT_THAT(resolve_failure("sim:fp8").message(), HasSubstr("sim:bf16"));
  EXPECT_THAT(resolve_failure("sim:fp16,overflow=wrap").message(), HasSubstr("inf, saturate"));
  EXPECT_THAT(resolve_failure("tpu").message(), HasSubstr("qnn:htp"));
  EXPECT_EQ(resolve_failure("cpu,thread=2").kind, ErrorKind::kUsage);
}

TEST(Target, ExecutionIsAsAnApplicationAsksForIt) {
  auto plain = resolve_target(spec("cpu"), {});
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->inter_threads, 1);
  EXPECT_FALSE(plain->parallel);
  auto parallel = resolve_target(spec("cpu,mode=parallel,inter=3"), {});
  ASSERT_TRUE(parallel.has_value()) << parallel.error().message();
  EXPECT_EQ(parallel->inter_threads, 3);
  EXPECT_TRUE(parallel->parallel);
  EXPECT_THAT(resolve_failure("cpu,inter=2").message(), HasSubstr("no effect in sequential mode"));
  EXPECT_THAT(resolve_failure("cpu,inter=0,mode=parallel").message(), HasSubstr("inter=0 is not a number"));
  EXPECT_THAT(resolve_failure("cpu,mode=fast").message(), HasSubstr("sequential, parallel"));
}

TEST(Target, SimulatorStoresInItsFormat) {
  auto target = resolve_target(spec("sim:bf16,overflow=saturate"), {});
  ASSERT_TRUE(target.has_value());
  ASSERT_TRUE(target->simulate.has_value());
  EXPECT_EQ(target->simulate->format, DType::kBF16);
  EXPECT_EQ(target->simulate->overflow, Overflow::kSaturate);
  EXPECT_EQ(target->capabilities.storage_type, DType::kBF16);
  EXPECT_EQ(target->optimisation, "none");
  auto plain = resolve_target(spec("sim:fp16"), {});
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->simulate->format, DType::kF16);
  EXPECT_EQ(plain->simulate->overflow, Overflow::kInfinity);
}

TEST(Target, SimulatedIntegersNeedRangesAndFittingOptions) {
  EXPECT_THAT(resolve_failure("sim:int8").message(), HasSubstr("ranges=RECORDING is missing"));
  EXPECT_THAT(resolve_failure("sim:int8,type=int16").message(), HasSubstr("int8, uint8"));
  EXPECT_THAT(resolve_failure("sim:w8a16,type=int8").message(), HasSubstr("int16, uint16"));
  EXPECT_THAT(resolve_failure("sim:int8,weights=per-row").message(), HasSubstr("per-channel, per-tensor"));
  EXPECT_THAT(resolve_failure("sim:int8,type=uint8,activations=symmetric").message(), HasSubstr("codes are signed"));
  EXPECT_THAT(resolve_failure("sim:int8,opt=all").message(),
              HasSubstr("known are activations, float, ranges, threads"));
  EXPECT_THAT(resolve_failure("sim:int8,ranges=/nowhere").message(), HasSubstr("is no recording"));
}

TEST_F(TargetFiles, QnnFillsInItsDefaults) {
  const Path library = touch("site/onnxruntime_qnn/libonnxruntime_providers_qnn.so");
  const Path backend = touch("site/onnxruntime_qnn/libQnnHtp.so");
  auto target = resolve_target(spec("qnn:htp,htp_arch=75,vtcm_mb=8,ep.context_enable=1,strange=1"), search_);
  ASSERT_TRUE(target.has_value()) << target.error().message();
  EXPECT_EQ(target->provider_library, library.string());
  EXPECT_EQ(target->provider_options, (std::map<std::string, std::string>{{"backend_path", backend.string()},
                                                                          {"soc_model", "77"},
                                                                          {"htp_arch", "75"},
                                                                          {"vtcm_mb", "8"},
                                                                          {"strange", "1"}}));
  EXPECT_EQ(target->session_entries, (std::map<std::string, std::string>{{"ep.context_enable", "1"}}));
  EXPECT_TRUE(target->capabilities.device);
  EXPECT_TRUE(target->capabilities.op_trace);
  EXPECT_FALSE(target->capabilities.free_dimensions);
  EXPECT_EQ(target->capabilities.storage_type, DType::kF16);
  EXPECT_THAT(target->notes, ::testing::Contains(HasSubstr("strange is not a documented QNN option")));
}

TEST_F(TargetFiles, AbsentProvidersSayWhatToInstall) {
  EXPECT_THAT(resolve_failure("qnn:htp", search_).message(), HasSubstr("pip install onnxruntime-qnn==2.7.0"));
  EXPECT_THAT(resolve_failure("qnn:htp,library=/no/such.so", search_).message(), HasSubstr("/no/such.so is absent"));
  touch("site/onnxruntime_qnn/libonnxruntime_providers_qnn.so");
  EXPECT_THAT(resolve_failure("qnn:cpu", search_).message(), HasSubstr("libQnnCpu.so is absent"));
  touch("site/onnxruntime_qnn/libQnnHtp.so");
  // Whatever the target is called, its options say whether the accelerator or a CPU computes.
  EXPECT_FALSE(resolve_target(spec("qnn:htp"), search_)->capabilities.cpu_backend);
  EXPECT_TRUE(resolve_target(spec("qnn:htp,backend_type=cpu"), search_)->capabilities.cpu_backend);
  EXPECT_TRUE(resolve_target(spec("qnn:htp,backend_path=/x/libQnnCpu.so"), search_)->capabilities.cpu_backend);
  EXPECT_FALSE(resolve_target(spec("qnn:cpu,backend_type=htp"), search_)->capabilities.cpu_backend);
  EXPECT_THAT(resolve_failure("qnn:dsp", search_).message(), HasSubstr("no back end \"dsp\""));
  EXPECT_THAT(resolve_failure("ort:X").message(), HasSubstr("library=PATH is missing"));
  EXPECT_THAT(resolve_failure("ort,library=/x").message(), HasSubstr("name is missing"));
  EXPECT_THAT(resolve_failure("ort:X,library=/no/such.so").message(), HasSubstr("/no/such.so is absent"));
  EXPECT_EQ(resolve_failure("ort:X,library=/no/such.so").kind, ErrorKind::kUsage);
}

TEST_F(TargetFiles, PluginsKeepTheirOptions) {
  const Path library = touch("libx.so");
  auto target = resolve_target(spec("ort:XProvider,library=" + library.string() + ",a=b,opt=basic"), {});
  ASSERT_TRUE(target.has_value()) << target.error().message();
  EXPECT_EQ(target->provider, "XProvider");
  EXPECT_EQ(target->provider_library, library.string());
  EXPECT_EQ(target->provider_options, (std::map<std::string, std::string>{{"a", "b"}}));
  EXPECT_EQ(target->optimisation, "basic");
  EXPECT_TRUE(target->capabilities.device);
  EXPECT_FALSE(target->capabilities.op_trace);
}

TEST_F(TargetFiles, OnnxRuntimeIsLookedForInOrder) {
  touch("site/onnxruntime/capi/libonnxruntime_providers_shared.so");
  const Path newest = touch("site/onnxruntime/capi/libonnxruntime.so.1.32.0");
  touch("site/onnxruntime/capi/libonnxruntime.so.1.9.1");
  auto found = find_onnxruntime(search_);
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_EQ(found->path, newest);
  EXPECT_EQ(found->found_by, "Python environment");

  const Path given = touch("own/lib/libonnxruntime.so.1.30.0");
  search_.ort = (scratch_->path() / "own").string();
  found = find_onnxruntime(search_);
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_EQ(found->path, given);
  EXPECT_EQ(found->found_by, "--ort");
  search_.ort = given.string();
  EXPECT_EQ(find_onnxruntime(search_)->path, given);

  search_.ort = (scratch_->path() / "site" / "onnxruntime_qnn").string();
  auto missing = find_onnxruntime(search_);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, ErrorKind::kRuntime);
  std::filesystem::create_directories(search_.ort);
  EXPECT_THAT(find_onnxruntime(search_).error().message(), HasSubstr("holds no libonnxruntime.so"));
}

TEST_F(TargetFiles, ListingSaysWhyNot) {
  touch("site/onnxruntime/capi/libonnxruntime.so.1.32.0");
  auto available = [&](const std::string& pattern) -> TargetListing {
    for (const auto& entry : list_targets(search_)) {
      if (entry.pattern == pattern) return entry;
    }
    ADD_FAILURE() << pattern;
    return {};
  };
  EXPECT_TRUE(available("cpu").available);
  EXPECT_TRUE(available("sim:fp16").available);
  EXPECT_FALSE(available("qnn:htp").available);
  EXPECT_THAT(available("qnn:htp").remedy, HasSubstr("pip install onnxruntime-qnn"));
  touch("site/onnxruntime_qnn/libonnxruntime_providers_qnn.so");
  EXPECT_TRUE(available("qnn:htp").available);
}

}  // namespace
}  // namespace paritas
