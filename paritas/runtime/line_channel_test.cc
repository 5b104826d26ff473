#include "paritas/runtime/line_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace paritas {
namespace {

using End = LineChannel::End;
using namespace std::chrono_literals;

LineChannel::Clock::time_point in(std::chrono::milliseconds time) { return LineChannel::Clock::now() + time; }

class LineChannelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0);
    ours_ = std::make_unique<LineChannel>(ends_[0], ends_[0], /*longest_line=*/1 << 20);
  }
  void TearDown() override { close_theirs(); }
  void close_theirs() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  void write_theirs(std::string_view text) {
    ASSERT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  int ends_[2] = {-1, -1};
  std::unique_ptr<LineChannel> ours_;
};

TEST_F(LineChannelTest, SplitsAndJoinsLines) {
  std::string line;
  write_theirs("one\ntw");
  EXPECT_EQ(ours_->receive(line, in(1s)), End::kNone);
  EXPECT_EQ(line, "one");
  EXPECT_EQ(ours_->receive(line, in(10ms)), End::kTimeout);
  write_theirs("o\n\nthree\n");
  EXPECT_EQ(ours_->receive(line, in(1s)), End::kNone);
  EXPECT_EQ(line, "two");
  EXPECT_EQ(ours_->receive(line, in(1s)), End::kNone);
  EXPECT_EQ(line, "");
  EXPECT_EQ(ours_->receive(line, in(1s)), End::kNone);
  EXPECT_EQ(line, "three");
}

TEST_F(LineChannelTest, LongLinesPassInBothDirections) {
  const std::string sent(900'000, 'x');
  std::thread echo([&] {
    LineChannel theirs(std::exchange(ends_[1], -1), -1);
    std::string line;
    EXPECT_EQ(theirs.receive(line, in(5s)), End::kNone);
    EXPECT_EQ(line, sent);
  });
  EXPECT_EQ(ours_->send(sent, in(5s)), End::kNone);
  echo.join();
}

TEST_F(LineChannelTest, RefusesALineWithoutEnd) {
  std::thread peer([&] {
    const std::string block(1 << 16, 'x');
    for (int i = 0; i < 17; ++i) {
      if (::send(ends_[1], block.data(), block.size(), MSG_NOSIGNAL) < 0) return;
    }
  });
  std::string line;
  EXPECT_EQ(ours_->receive(line, in(5s)), End::kTooLong);
  peer.join();
}

TEST_F(LineChannelTest, ClosedPeerIsNoSignal) {
  write_theirs("rest");
  close_theirs();
  std::string line;
  EXPECT_EQ(ours_->receive(line, in(1s)), End::kClosed);  // an unfinished line does not count
  EXPECT_EQ(ours_->send("x", in(1s)), End::kClosed);
}

TEST_F(LineChannelTest, SendGivesUpWhenNobodyReads) {
  EXPECT_EQ(ours_->send(std::string(64 << 20, 'x'), in(50ms)), End::kTimeout);
}

}  // namespace
}  // namespace paritas
