#include "paritas/base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Runs `body` in a child that then dies as by kill -9: no destructor runs.
template <class Body>
void in_killed_child(Body body) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    [[maybe_unused]] const auto keep = body();
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

class Files : public ::testing::Test {
 protected:
  Path at(const std::string& name) const { return folder_.path() / name; }
  TestFolder folder_;
};

TEST_F(Files, OpenRefusesWhatIsNotARegularFile) {
  EXPECT_THAT(File::open(at("none")).error().cause, HasSubstr("no such file"));
  EXPECT_THAT(File::open(folder_.path()).error().cause, HasSubstr("is a folder"));
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_THAT(File::open(at("pipe")).error().cause, HasSubstr("not a regular file"));
}

TEST_F(Files, ReadStaysInsideTheFile) {
  const auto file = File::open(folder_.write("f", "0123456789"));
  ASSERT_TRUE(file);
  std::array<char, 4> out{};
  ASSERT_TRUE((*file)->read(6, std::as_writable_bytes(std::span(out))));
  EXPECT_EQ(std::string(out.data(), 4), "6789");
  EXPECT_THAT((*file)->read(7, std::as_writable_bytes(std::span(out))).error().cause, HasSubstr("ends at byte 10"));
  EXPECT_FALSE((*file)->read(UINT64_MAX, std::as_writable_bytes(std::span(out))));
  EXPECT_TRUE((*file)->read(10, {}));
}

TEST_F(Files, MappingMayStartAnywhere) {
  std::string content(10'000, '-');
  content.replace(5001, 3, "abc");
  const auto file = File::open(folder_.write("f", content));
  ASSERT_TRUE(file);
  const auto mapping = Mapping::map(*file, 5001, 3);
  ASSERT_TRUE(mapping);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>((*mapping)->bytes().data()), 3), "abc");
  EXPECT_TRUE((*Mapping::map(*file, 10'000, 0))->bytes().empty());
  EXPECT_FALSE(Mapping::map(*file, 9'999, 2));
  EXPECT_FALSE(Mapping::map(*file, UINT64_MAX, 2));
}

TEST_F(Files, ReadTextRespectsTheLimit) {
  folder_.write("f", "12345");
  EXPECT_EQ(*read_text(at("f"), 5), "12345");
  EXPECT_THAT(read_text(at("f"), 4).error().cause, HasSubstr("at most 4"));
}

TEST_F(Files, AtomicFileAppearsOnlyWithCommit) {
  {
    auto file = AtomicFile::create(at("f"), false);
    ASSERT_TRUE(file);
    AtomicFile moved = std::move(*file);
    ASSERT_TRUE(moved.write("abc"));
    EXPECT_EQ(moved.written(), 3u);
    EXPECT_FALSE(fs::exists(at("f")));
    ASSERT_TRUE(moved.commit());
  }
  EXPECT_EQ(TestFolder::read(at("f")), "abc");
  EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(Files, AtomicFileDroppedLeavesNothing) {
  ASSERT_TRUE(AtomicFile::create(at("f"), false)->write("abc"));
  EXPECT_EQ(folder_.entries(), 0u);
}

TEST_F(Files, AtomicFileReplacesOnlyWhenTold) {
  folder_.write("f", "old");
  EXPECT_THAT(AtomicFile::create(at("f"), false).error().remedy, HasSubstr("--force"));
  ASSERT_TRUE(AtomicFile::create(at("f"), true)->write("dropped"));
  EXPECT_EQ(TestFolder::read(at("f")), "old");
  ASSERT_TRUE(write_text_atomically(at("f"), "new", true));
  EXPECT_EQ(TestFolder::read(at("f")), "new");
  fs::create_symlink("nowhere", at("link"));
  EXPECT_FALSE(AtomicFile::create(at("link"), false)) << "a link that points nowhere exists too";
  EXPECT_FALSE(AtomicFile::create(folder_.path(), true)) << "a folder is never replaced by a file";
  EXPECT_THAT(AtomicFile::create(at("none/f"), false).error().cause, HasSubstr("does not exist"));
}

TEST_F(Files, AtomicFileKilledHalfWayLeavesNothingUnderItsName) {
  in_killed_child([&] {
    auto file = AtomicFile::create(at("f"), false);
    (void)file->write("half");
    return file;
  });
  EXPECT_FALSE(fs::exists(at("f")));
}

// A full disk, played by the limit on file sizes.
TEST_F(Files, AtomicFileReportsThatWritingFailed) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    bool good = false;
    {
      auto file = AtomicFile::create(at("f"), false);
      const auto status = file->write(std::string(2000, 'x'));
      good =
          !status && status.error().subject == at("f") && status.error().cause.find("too large") != std::string::npos;
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(folder_.entries(), 0u);
}

TEST_F(Files, AtomicFolderAppearsWholeOrNotAtAll) {
  {
    auto folder = AtomicFolder::create(at("out/"), false, "run.json");
    ASSERT_TRUE(folder);
    ASSERT_TRUE(write_text_atomically(folder->building() / "data", "1", false));
    EXPECT_THAT(folder->commit().error().cause, HasSubstr("run.json is missing"));
    EXPECT_FALSE(fs::exists(at("out")));
    ASSERT_TRUE(write_text_atomically(folder->building() / "run.json", "{}", false));
    ASSERT_TRUE(folder->commit());
  }
  EXPECT_EQ(TestFolder::read(at("out/data")), "1");
  EXPECT_EQ(folder_.entries(), 1u);
}

TEST_F(Files, AtomicFolderDroppedLeavesNothing) {
  {
    const auto folder = AtomicFolder::create(at("out"), false, "i");
    ASSERT_TRUE(folder);
    ASSERT_TRUE(write_text_atomically(folder->building() / "i", "1", false));
    EXPECT_EQ(folder_.entries(), 1u);
  }
  EXPECT_EQ(folder_.entries(), 0u);
}

TEST_F(Files, AtomicFolderReplacesOnlyItsOwnKind) {
  fs::create_directory(at("foreign"));
  folder_.write("foreign/precious", "1");
  EXPECT_FALSE(AtomicFolder::create(at("foreign"), false, "run.json"));
  EXPECT_THAT(AtomicFolder::create(at("foreign"), true, "run.json").error().cause, HasSubstr("not ours to replace"));
  fs::create_directory(at("ours"));
  folder_.write("ours/run.json", "old");
  folder_.write("ours/stale", "1");
  EXPECT_THAT(AtomicFolder::create(at("ours"), false, "run.json").error().cause, HasSubstr("exists already"));
  fs::create_directory_symlink("ours", at("link"));
  EXPECT_FALSE(AtomicFolder::create(at("link"), true, "run.json"));
  {
    auto folder = AtomicFolder::create(at("ours"), true, "run.json");
    ASSERT_TRUE(folder);
    ASSERT_TRUE(write_text_atomically(folder->building() / "run.json", "new", false));
    EXPECT_EQ(TestFolder::read(at("ours/run.json")), "old");
    ASSERT_TRUE(folder->commit());
  }
  EXPECT_EQ(TestFolder::read(at("ours/run.json")), "new");
  EXPECT_FALSE(fs::exists(at("ours/stale")));
  EXPECT_TRUE(fs::exists(at("foreign/precious")));
  EXPECT_EQ(folder_.entries(), 3u);
}

TEST_F(Files, AtomicFolderKilledHalfWayLeavesNothingUnderItsName) {
  in_killed_child([&] {
    auto folder = AtomicFolder::create(at("out"), false, "run.json");
    (void)write_text_atomically(folder->building() / "run.json", "{}", false);
    return folder;
  });
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(Files, WhatTheKilledLeftOfAnOutputIsRemovedByTheNextRun) {
  in_killed_child([&] {
    auto file = AtomicFile::create(at("f"), false);
    (void)file->write("half");
    return file;
  });
  in_killed_child([&] {
    auto folder = AtomicFolder::create(at("out"), false, "run.json");
    (void)write_text_atomically(folder->building() / "data", "1", false);
    return folder;
  });
  EXPECT_EQ(folder_.entries(), 2u);
  ASSERT_TRUE(write_text_atomically(at("other"), "1", false));
  EXPECT_EQ(folder_.entries(), 3u) << "of another output";
  ASSERT_TRUE(write_text_atomically(at("f"), "1", false));
  EXPECT_EQ(folder_.entries(), 3u) << "f, other and what is left of out";
  auto folder = AtomicFolder::create(at("out/"), false, "run.json");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(write_text_atomically(folder->building() / "run.json", "{}", false));
  ASSERT_TRUE(folder->commit());
  EXPECT_EQ(folder_.entries(), 3u) << "f, other and out";
}

TEST_F(Files, PartialOutputsOfTheLivingAreKept) {
  auto file = AtomicFile::create(at("f"), false);
  auto folder = AtomicFolder::create(at("out"), false, "run.json");
  ASSERT_TRUE(file && folder);
  const pid_t child = ::fork();  // another process with the same outputs
  ASSERT_GE(child, 0);
  if (child == 0)
    ::_exit(AtomicFile::create(at("f"), false) && AtomicFolder::create(at("out"), false, "run.json") ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ASSERT_TRUE(file->write("whole"));
  ASSERT_TRUE(file->commit());
  ASSERT_TRUE(write_text_atomically(folder->building() / "run.json", "{}", false));
  ASSERT_TRUE(folder->commit());
  EXPECT_TRUE(fs::exists(at("out/run.json")));
}

TEST_F(Files, ALockedPartialOutputOfAnUnknownProcessIsKept) {
  std::string left;
  in_killed_child([&] { return AtomicFile::create(at("f"), false); });
  for (const auto& entry : fs::directory_iterator(folder_.path())) left = entry.path().string();
  const int lock = ::open(left.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  ASSERT_TRUE(AtomicFile::create(at("f"), false));
  EXPECT_TRUE(fs::exists(left));
  ::close(lock);
  folder_.write(".f.partial-00000000-1999999999-0", "of another machine");
  folder_.write(".f.partial-notes", "of the user");
  ASSERT_TRUE(AtomicFile::create(at("f"), false));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(folder_.entries(), 2u);
}

TEST_F(Files, ScratchFolderGoesWithItsOwner) {
  Path path;
  {
    auto scratch = ScratchFolder::create(folder_.path());
    ASSERT_TRUE(scratch);
    const ScratchFolder moved = std::move(*scratch);
    path = moved.path();
    EXPECT_EQ(fs::status(path).permissions() & fs::perms::others_all, fs::perms::none);
    ASSERT_TRUE(write_text_atomically(path / "data", "1", false));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(folder_.entries(), 0u);
  EXPECT_FALSE(ScratchFolder::create(at("none")));
}

TEST_F(Files, ScratchFoldersOfTheDeadAreRemovedAndThoseOfTheLivingKept) {
  in_killed_child([&] {
    auto scratch = ScratchFolder::create(folder_.path());
    (void)write_text_atomically(scratch->path() / "data", "1", false);
    return scratch;
  });
  EXPECT_EQ(folder_.entries(), 1u);
  const auto living = ScratchFolder::create(folder_.path());
  ASSERT_TRUE(living);
  EXPECT_EQ(folder_.entries(), 1u) << "the dead one's is gone";
  const auto second = ScratchFolder::create(folder_.path());
  ASSERT_TRUE(second);
  EXPECT_TRUE(fs::exists(living->path()));
  EXPECT_NE(living->path(), second->path());
}

TEST_F(Files, ScratchRemovalTouchesNothingElse) {
  fs::create_directory(at("mine"));
  folder_.write("mine/lock", "");
  fs::create_directory_symlink("mine", at("paritas-scratch-link"));
  fs::create_directory(at("paritas-scratch-nolock"));
  ASSERT_TRUE(ScratchFolder::create(folder_.path()));
  EXPECT_TRUE(fs::exists(at("mine/lock")));
  EXPECT_TRUE(fs::is_symlink(at("paritas-scratch-link")));
  EXPECT_TRUE(fs::exists(at("paritas-scratch-nolock")));
}

class ResolveInside : public Files {
 protected:
  void SetUp() override {
    fs::create_directories(at("in/sub"));
    fs::create_directory(at("out"));
    folder_.write("in/sub/f", "1");
    folder_.write("out/secret", "1");
  }
  bool inside(const std::string& relative) { return resolve_inside(at("in"), relative).has_value(); }
};

TEST_F(ResolveInside, FindsPathsBelowTheFolder) {
  EXPECT_EQ(*resolve_inside(at("in"), "sub/f"), fs::canonical(at("in/sub/f")));
  EXPECT_TRUE(inside("sub/new/file"));
  EXPECT_TRUE(inside("sub/../sub/f"));
  EXPECT_TRUE(inside("..f"));
}

TEST_F(ResolveInside, RefusesPathsThatLeaveIt) {
  EXPECT_FALSE(inside(""));
  EXPECT_FALSE(inside("."));
  EXPECT_FALSE(inside(".."));
  EXPECT_FALSE(inside("../out/secret"));
  EXPECT_FALSE(inside("sub/../../out/secret"));
  EXPECT_FALSE(inside("new/../../out/new"));
  EXPECT_FALSE(inside(at("in/sub/f").string())) << "absolute";
  EXPECT_FALSE(inside(std::string("sub/f\0x", 7)));
  EXPECT_FALSE(resolve_inside(at("none"), "f"));
}

TEST_F(ResolveInside, RefusesLinksThatLeadOut) {
  fs::create_directory_symlink("../out", at("in/away"));
  fs::create_symlink("../out/secret", at("in/file"));
  fs::create_symlink("../out/not-there-yet", at("in/dangling"));
  fs::create_directory_symlink("sub", at("in/home"));
  EXPECT_FALSE(inside("away/secret"));
  EXPECT_FALSE(inside("away/new"));
  EXPECT_FALSE(inside("file"));
  EXPECT_FALSE(inside("dangling")) << "writing through it would create a file outside";
  EXPECT_FALSE(inside("dangling/x"));
  EXPECT_TRUE(inside("home/f")) << "leads to a place inside";
}

}  // namespace
}  // namespace paritas
