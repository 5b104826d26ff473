#include "paritas/package/portable_target.h"

#include <gmock/gmock.h>

namespace paritas {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  const auto spec = parse_portable(text, {}, "manifest.json");
  return spec ? "accepted" : spec.error().message();
}

// A manifest is a stranger's: it must not make us load his library.
TEST(PortableTarget, FilesOfAPackagesOwnAreRefused) {
  for (const char* text : {"ort:X,library=package/evil.so", "ort:X,library=evil", "qnn:htp,backend_path=libQnnHtp.so",
                           "qnn:htp,library=x.so", "qnn:htp,op_packages=evil", "qnn:htp,op_affinity=affinity.json",
                           "qnn:htp,soc_model=../x", "qnn:htp,x=evil.SO.1", "qnn:htp,profiling_file_path=x",
                           "qnn:htp,framework_op_trace_dir=x", "cpu,session.x=a\\b"})
    EXPECT_THAT(refusal(text), HasSubstr("which a package must not have")) << text;
  EXPECT_EQ(refusal("qnn:htp,soc_model=77,htp_arch=73,vtcm_mb=8"), "accepted");
  EXPECT_EQ(refusal("ort:X,precision=half,session.a=1"), "accepted");
  EXPECT_EQ(refusal("cpu,opt=all,threads=8"), "accepted");
}

TEST(PortableTarget, WhatIsStoredIsWhatIsAccepted) {
  const auto spec = TargetSpec::parse("ort:X,library=/home/me/lib.so,a=1,b=\"2,3\"");
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(portable_text(*spec), "ort:X,a=1,b=\"2,3\"");
  EXPECT_EQ(refusal(portable_text(*spec)), "accepted");
}

TEST(PortableTarget, TheLibraryIsTheUsers) {
  RuntimeSearch search;
  search.provider_libraries["X"] = "/opt/x.so";
  const auto spec = parse_portable("ort:X,a=1", search, "manifest.json");
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->options.at("library"), "/opt/x.so");
}

}  // namespace
}  // namespace paritas
