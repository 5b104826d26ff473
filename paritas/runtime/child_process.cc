#include "paritas/runtime/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace paritas {
namespace {

// PR_SET_PDEATHSIG fires when the *thread* that forked ends, so every fork happens on one thread that lives as long as
// the process does. It is never joined or destroyed.
class ForkingThread {
 public:
  static ForkingThread& get() {
    static auto* thread = new ForkingThread();
    return *thread;
  }

  pid_t run(const std::function<pid_t()>& task) {
    std::lock_guard one_at_a_time(callers_);
    std::unique_lock lock(mutex_);
    task_ = &task;
    changed_.notify_all();
    changed_.wait(lock, [&] { return task_ == nullptr; });
    return result_;
  }

 private:
  ForkingThread() {
    std::thread([this] { serve(); }).detach();
  }

  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return task_ != nullptr; });
      result_ = (*task_)();
      task_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<pid_t()>* task_ = nullptr;
  pid_t result_ = -1;
};

// Everything that the child needs between fork and exec, where only async-signal-safe calls are allowed.
struct Prepared {
  std::vector<char*> argv;
  const char* executable;
  int output;
  int empty_input;
  int inherited;
  int report;  // close-on-exec: gets errno when exec fails
  pid_t parent;
};

[[noreturn]] void become(const Prepared& p) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != p.parent) ::_exit(127);  // the parent ended before the line above
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const bool ready = ::dup2(p.empty_input, STDIN_FILENO) >= 0 && ::dup2(p.output, STDOUT_FILENO) >= 0 &&
                     ::dup2(p.output, STDERR_FILENO) >= 0 && (p.inherited < 0 || ::fcntl(p.inherited, F_SETFD, 0) == 0);
  if (ready) ::execv(p.executable, p.argv.data());
  const int number = errno;
  [[maybe_unused]] const ssize_t put = ::write(p.report, &number, sizeof number);
  ::_exit(127);
}

struct Descriptor {
  int value = -1;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

Result<ChildProcess> ChildProcess::start(const Start& start) {
  Descriptor output{::open(start.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
  if (output.value < 0)
    return runtime_error(start.output.string(), fmt::format("cannot be written: {}", errno_text(errno)));
  Descriptor input{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0)
    return runtime_error(start.executable.string(), fmt::format("cannot be started: {}", errno_text(errno)));
  Descriptor report_read{pipe_ends[0]};
  Descriptor report_write{pipe_ends[1]};

  std::vector<std::string> words{start.executable.string()};
  words.insert(words.end(), start.arguments.begin(), start.arguments.end());
  Prepared prepared{{},        start.executable.c_str(), output.value, input.value, start.inherited, report_write.value,
                    ::getpid()};
  for (std::string& word : words) prepared.argv.push_back(word.data());
  prepared.argv.push_back(nullptr);

  int fork_error = 0;
  const pid_t pid = ForkingThread::get().run([&] {
    const pid_t forked = ::fork();
    if (forked == 0) become(prepared);
    if (forked < 0) fork_error = errno;
    return forked;
  });
  if (pid < 0)
    return runtime_error(start.executable.string(), fmt::format("cannot be started: {}", errno_text(fork_error)));
  ::setpgid(pid, pid);  // both sides do it: whoever comes first
  ChildProcess child(pid);
  ::close(std::exchange(report_write.value, -1));
  int number = 0;
  ssize_t got;
  do {
    got = ::read(report_read.value, &number, sizeof number);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof number))
    return runtime_error(start.executable.string(), fmt::format("cannot be started: {}", errno_text(number)));
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), ended_(std::move(other.ended_)), by_signal_(other.by_signal_) {}

ChildProcess::~ChildProcess() { kill(); }

bool ChildProcess::wait(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  auto pause = std::chrono::milliseconds(1);
  while (pid_ > 0) {
    int status = 0;
    const pid_t got = ::waitpid(pid_, &status, WNOHANG);
    if (got == pid_) {
      note_status(status);
      break;
    }
    if (got < 0 && errno != EINTR) {  // someone else reaped it
      ended_ = "unknown status";
      pid_ = -1;
      break;
    }
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(20));
  }
  return true;
}

void ChildProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);  // in case the group does not exist yet
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  note_status(status);
}

void ChildProcess::note_status(int status) {
  by_signal_ = WIFSIGNALED(status);
  if (by_signal_) {
    const char* text = ::sigdescr_np(WTERMSIG(status));
    ended_ = fmt::format("signal {}: {}", WTERMSIG(status), text != nullptr ? text : "unknown signal");
  } else {
    ended_ = fmt::format("exit code {}", WEXITSTATUS(status));
  }
  pid_ = -1;
}

}  // namespace paritas
