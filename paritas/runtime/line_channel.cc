#include "paritas/runtime/line_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>

#include <algorithm>

namespace paritas {
namespace {

// Milliseconds for poll(): -1 without a deadline; rounded up, so that it never spins just before the deadline.
int milliseconds_until(std::optional<LineChannel::Clock::time_point> deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - LineChannel::Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
}

// On a socket without SIGPIPE and without blocking; a pipe takes plain write().
ssize_t put(int descriptor, std::string_view text) {
  const ssize_t sent = ::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno == ENOTSOCK) return ::write(descriptor, text.data(), text.size());
  return sent;
}

}  // namespace

LineChannel::~LineChannel() {
  ::close(read_);
  if (write_ != read_) ::close(write_);
}

LineChannel::End LineChannel::wait_for(int descriptor, short events, std::optional<Clock::time_point> deadline) const {
  for (;;) {
    pollfd entry{descriptor, events, 0};
    const int ready = ::poll(&entry, 1, milliseconds_until(deadline));
    if (ready > 0) return End::kNone;  // data, room, or a hang-up that read or write will report
    if (ready < 0 && errno != EINTR) return End::kFailed;
    if (deadline && Clock::now() >= *deadline) return End::kTimeout;
  }
}

LineChannel::End LineChannel::receive(std::string& line, std::optional<Clock::time_point> deadline) {
  size_t searched = 0;
  for (;;) {
    if (const size_t at = buffer_.find('\n', searched); at != std::string::npos) {
      line.assign(buffer_, 0, at);
      buffer_.erase(0, at + 1);
      return End::kNone;
    }
    searched = buffer_.size();
    if (searched > longest_line_) return End::kTooLong;
    if (const End end = wait_for(read_, POLLIN, deadline); end != End::kNone) return end;
    char block[1 << 16];
    const ssize_t got = ::read(read_, block, sizeof block);
    if (got == 0) return End::kClosed;
    if (got < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return errno == ECONNRESET ? End::kClosed : End::kFailed;
    }
    buffer_.append(block, static_cast<size_t>(got));
  }
}

LineChannel::End LineChannel::send(std::string_view line, std::optional<Clock::time_point> deadline) {
  std::string text(line);
  text += '\n';
  std::string_view left = text;
  while (!left.empty()) {
    if (const End end = wait_for(write_, POLLOUT, deadline); end != End::kNone) return end;
    const ssize_t sent = put(write_, left);
    if (sent >= 0) {
      left.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return End::kClosed;
    } else if (errno != EINTR && errno != EAGAIN) {
      return End::kFailed;
    }
  }
  return End::kNone;
}

}  // namespace paritas
