#include "paritas/package/package.h"

#include <csignal>
#include <random>

#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "paritas/package/testing.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class PackageTest : public ::testing::Test {
 protected:
  PackageTest() {
    fs::create_directory(path());
    EXPECT_TRUE(seal(path(), package_test::write_package(path())).has_value());
  }
  Path path() const { return folder_.path() / "package"; }
  std::string opened() const {
    const auto package = open_package(path());
    return package ? "opened" : package.error().message();
  }
  void write_sums_anew() const {
    const auto sums = hash_files(path());
    ASSERT_TRUE(sums.has_value());
    ASSERT_TRUE(write_text_atomically(path() / kSumsName, sums_text(*sums), true).has_value());
  }
  void put(const std::string& file, const std::string& content) const {
    std::ofstream(path() / file, std::ios::binary) << content;
  }
  TestFolder folder_;
};

TEST_F(PackageTest, AWholePackageOpens) { EXPECT_EQ(opened(), "opened"); }

TEST_F(PackageTest, AFileTooManyIsNamed) {
  put("extra.bin", "x");
  EXPECT_THAT(opened(), HasSubstr("extra.bin: does not belong to the package"));
  write_sums_anew();
  EXPECT_THAT(opened(), HasSubstr("extra.bin: does not belong to the package: its manifest does not list it"));
}

TEST_F(PackageTest, AFileTooFewIsNamed) {
  fs::remove(path() / "decoder.onnx");
  EXPECT_THAT(opened(), HasSubstr("decoder.onnx: is listed in SHA256SUMS, but absent"));
  write_sums_anew();
  EXPECT_THAT(opened(), HasSubstr("decoder.onnx: is listed in the manifest, but absent"));
}

TEST_F(PackageTest, ARenamedFileIsNamed) {
  fs::rename(path() / "decoder.onnx", path() / "decoder2.onnx");
  EXPECT_THAT(opened(), HasSubstr("decoder.onnx"));
}

TEST_F(PackageTest, AFileOfAnotherPackageIsNamedEvenWithNewSums) {
  put("encoder_ctx.onnx", "the context of another encoder");
  EXPECT_THAT(opened(), HasSubstr("encoder_ctx.onnx: was changed"));
  write_sums_anew();
  EXPECT_THAT(opened(), HasSubstr("encoder_ctx.onnx: is not the file that the manifest describes"));
}

TEST_F(PackageTest, WithoutSumsNothingIsOpened) {
  fs::remove(path() / kSumsName);
  EXPECT_THAT(opened(), HasSubstr("SHA256SUMS: is absent"));
}

TEST_F(PackageTest, AManifestIsNeeded) {
  fs::remove(path() / kManifestName);
  write_sums_anew();
  EXPECT_THAT(opened(), HasSubstr("holds no manifest.json"));
}

TEST_F(PackageTest, LinksAreRefusedEvenInside) {
  fs::remove(path() / "gates.json");
  fs::create_symlink(path() / "reference/run.json", path() / "gates.json");
  EXPECT_THAT(opened(), HasSubstr("gates.json: is no regular file"));
}

TEST_F(PackageTest, AManifestCannotNameFilesOutside) {
  Manifest manifest = package_test::write_package(path());
  folder_.write("outside.onnx", "x");
  ASSERT_TRUE(seal(path(), manifest).has_value());
  std::string text = TestFolder::read(path() / kManifestName);
  for (size_t at = 0; (at = text.find("\"decoder.onnx\"", at)) != std::string::npos; ++at)
    text.replace(at, 14, "\"../outside.onnx\"");
  put(kManifestName, text);
  write_sums_anew();
  EXPECT_THAT(opened(), HasSubstr("does not stay inside the folder"));
}

// The promise of the format: no single byte can change without its file being named.
TEST_F(PackageTest, EveryFlippedByteIsNoticed) {
  std::mt19937 random(7);
  std::vector<Path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path()))
    if (entry.is_regular_file()) files.push_back(entry.path());
  for (const Path& file : files) {
    const std::string content = TestFolder::read(file);
    for (int i = 0; i < 60; ++i) {
      std::string changed = content;
      char& byte = changed[random() % changed.size()];
      byte = static_cast<char>(byte ^ (1 << random() % 8));
      std::ofstream(file, std::ios::binary) << changed;
      // A change in SHA256SUMS may name the file whose line it hit.
      if (file.filename() == kSumsName)
        EXPECT_NE(opened(), "opened");
      else
        EXPECT_THAT(opened(), HasSubstr(file.filename().string()));
    }
    std::ofstream(file, std::ios::binary) << content;
    EXPECT_EQ(opened(), "opened");
  }
}

TEST_F(PackageTest, AManifestThatWouldFillTheMemoryIsNotRead) {
  put(kManifestName, "[" + std::string(kMaxManifest, '1') + "]");
  write_sums_anew();
  EXPECT_THAT(opened(), HasSubstr("manifest.json: "));
  EXPECT_THAT(opened(), HasSubstr("bytes"));
}

TEST_F(PackageTest, WhatCouldNotBeReadIsNotWritten) {
  Manifest manifest = package_test::write_package(path());
  manifest.notes.push_back(std::string(kMaxManifest, 'n'));
  const auto sealed = seal(path(), manifest);
  ASSERT_FALSE(sealed.has_value());
  EXPECT_THAT(sealed.error().message(), HasSubstr("more than the"));
}

// Dies after each step of saving, as by SIGKILL: no destructor runs.
TEST_F(PackageTest, AKillWhileTimingsAreSavedLeavesAWholePackage) {
  for (const int step : {1, 2}) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto timed = TimedPackage::build(path(), Json{{"round", step}});
      if (!timed) ::_exit(1);
      if (step == 2 && !timed->commit()) ::_exit(2);
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << WEXITSTATUS(status);
    const auto package = open_package(path());
    ASSERT_TRUE(package.has_value()) << package.error().message();
    EXPECT_EQ(package->manifest.timings.size(), step == 1 ? 0 : 1);
  }
  ASSERT_TRUE(save_timing(path(), Json{{"round", 3}}).has_value());
  EXPECT_EQ(open_package(path())->manifest.timings.size(), 2);
  // What the killed ones left is gone.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
}

TEST_F(PackageTest, SumsAreWhatSha256sumReads) {
  const std::string command = "cd '" + path().string() + "' && sha256sum --quiet --strict -c SHA256SUMS";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace paritas
