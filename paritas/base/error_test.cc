#include "paritas/base/error.h"

#include <cerrno>
#include <memory>

#include <gtest/gtest.h>

namespace paritas {
namespace {

TEST(Error, MessageJoinsWhatThereIs) {
  EXPECT_EQ(input_error("a.npy", "is truncated", "copy it again").value().message(),
            "a.npy: is truncated; copy it again");
  EXPECT_EQ(usage_error("", "no model given").value().message(), "no model given");
  EXPECT_EQ(runtime_error("qnn", "crashed", "", "log").value().details, "log");
}

TEST(Error, KindsFollowTheMaker) {
  EXPECT_EQ(usage_error("", "").value().kind, ErrorKind::kUsage);
  EXPECT_EQ(input_error("", "").value().kind, ErrorKind::kInput);
  EXPECT_EQ(runtime_error("", "").value().kind, ErrorKind::kRuntime);
}

Result<std::unique_ptr<int>> make(bool good) {
  if (!good) return input_error("x", "bad");
  return std::make_unique<int>(7);
}

Result<int> use(bool good) {
  PARITAS_ASSIGN(const auto value, make(good));
  return *value;
}

Status check(bool good) {
  PARITAS_TRY(make(good));
  return {};
}

TEST(Error, MacrosPassErrorsOnAndMoveValues) {
  EXPECT_EQ(*use(true), 7);
  EXPECT_EQ(use(false).error().cause, "bad");
  EXPECT_TRUE(check(true));
  EXPECT_EQ(check(false).error().subject, "x");
}

TEST(Error, TextOfErrno) { EXPECT_EQ(errno_text(ENOSPC), "No space left on device"); }

}  // namespace
}  // namespace paritas
