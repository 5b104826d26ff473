// Starting, watching and ending the worker process.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>

#include "paritas/base/error.h"
#include "paritas/base/files.h"

namespace paritas {

// A child that dies with us: the kernel kills it when this process ends, and the destructor kills and reaps it. It is
// the leader of a process group of its own, so that Ctrl-C in the terminal reaches only the main process, and
// everything that vendor code starts can be killed with it.
class ChildProcess {
 public:
  struct Start {
    Path executable;
    std::vector<std::string> arguments;  // without argv[0]
    Path output;                         // standard output and error are appended to this file; standard input is empty
    int inherited = -1;  // the one descriptor (beside 0, 1, 2) that stays open in the child, same number
  };
  // Errors: the executable or the output file cannot be opened, fork or exec fail. May be called from any thread.
  static Result<ChildProcess> start(const Start& start);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t id() const { return pid_; }
  // True when the child ended within `patience`; how_it_ended() is then set.
  bool wait(std::chrono::milliseconds patience);
  // Kills the whole group and reaps the child.
  void kill();
  // "signal 11: Segmentation fault", "exit code 3"; empty while it runs.
  const std::string& how_it_ended() const { return ended_; }
  bool ended_by_signal() const { return by_signal_; }

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  void note_status(int status);

  pid_t pid_ = -1;
  std::string ended_;
  bool by_signal_ = false;
};

}  // namespace paritas
