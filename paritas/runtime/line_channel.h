// Lines of text over a pair of descriptors (two pipes, or one socket twice), with deadlines. Both ends of the control
// channel of a worker use it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace paritas {

class LineChannel {
 public:
  using Clock = std::chrono::steady_clock;

  // Longer lines are refused: a peer gone wild must not fill the memory. 8,000 nodes take about 1 MB.
  static constexpr size_t kLongestLine = size_t{256} << 20;

  enum class End {
    kNone,    // a line arrived, or the text was sent
    kClosed,  // the peer closed its end
    kTimeout,
    kTooLong,
    kFailed,  // errno was none of the above
  };

  // Takes over the descriptors. `longest_line` is for tests.
  LineChannel(int read, int write, size_t longest_line = kLongestLine)
      : read_(read), write_(write), longest_line_(longest_line) {}
  ~LineChannel();
  LineChannel(const LineChannel&) = delete;
  LineChannel& operator=(const LineChannel&) = delete;

  // The next line without its end. Without a deadline it waits for ever.
  End receive(std::string& line, std::optional<Clock::time_point> deadline);
  // Sends `line` and a line feed; `line` must hold none. Never raises SIGPIPE on a socket.
  End send(std::string_view line, std::optional<Clock::time_point> deadline);

 private:
  End wait_for(int descriptor, short events, std::optional<Clock::time_point> deadline) const;

  int read_;
  int write_;
  size_t longest_line_;
  std::string buffer_;  // received, not yet handed out
};

}  // namespace paritas
