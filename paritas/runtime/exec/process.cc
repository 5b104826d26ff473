#include "paritas/runtime/exec/process.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "paritas/runtime/child_process.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kKept = 64 << 10;  // bytes of captured output that are looked at
constexpr auto kLook = std::chrono::milliseconds(100);

// ChildProcess has one file for both streams and starts in our directory. The shell reads this text only; the words of
// the command are its arguments and stay as they are.
constexpr const char* kStarter =
    "errors=$1; folder=$2; shift 2; cd -- \"$folder\" || exit 126; exec \"$@\" 2>\"$errors\"";

// The last bytes of a file.
std::string tail(const Path& path) {
  auto file = File::open(path);
  if (!file) return {};
  const uint64_t size = (*file)->size(), kept = std::min(size, kKept);
  std::string text(kept, '\0');
  if (!(*file)->read(size - kept, std::as_writable_bytes(std::span(text)))) return {};
  return text;
}

uint64_t size_of(const Path& path) {
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

std::string too_much(const ProcessRequest& request, const Path& output, const Path& errors) {
  if (size_of(output) + size_of(errors) > request.most_printed)
    return fmt::format("it printed more than {} MiB and was killed", request.most_printed >> 20);
  if (request.watched.empty()) return {};
  if (const uint64_t written = bytes_below(request.watched); written > request.most_written)
    return fmt::format("it wrote {} bytes to its output folder, {} are allowed", written, request.most_written);
  return {};
}

// Waits until the command ends; what went wrong, or nothing.
std::string watch(ChildProcess& child, const ProcessRequest& request, const Path& output, const Path& errors) {
  const auto deadline = std::chrono::steady_clock::now() + request.timeout;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const bool ended = child.wait(std::clamp(left, std::chrono::milliseconds(0), std::chrono::milliseconds(kLook)));
    if (std::string problem = too_much(request, output, errors); !problem.empty()) {
      child.kill();
      return problem;
    }
    if (ended) return child.how_it_ended() == "exit code 0" ? "" : "it ended with " + child.how_it_ended();
    if (left.count() <= 0) {
      child.kill();
      return fmt::format("it did not end within {:g} s and was killed",
                         std::chrono::duration<double>(request.timeout).count());
    }
  }
}

}  // namespace

uint64_t bytes_below(const Path& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;  // the command may be renaming
    if (it->is_symlink(gone) || !it->is_regular_file(gone)) continue;
    const uint64_t size = it->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

Result<ProcessResult> run_process(const ProcessRequest& request) {
  ProcessResult result;
  result.words = request.words;
  PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(request.scratch));
  const Path output = scratch.path() / "output", errors = scratch.path() / "errors";
  std::vector<std::string> arguments = {"-c", kStarter, "paritas", fs::absolute(errors).string(),
                                        request.folder.empty() ? "." : request.folder.string()};
  if (request.environment) {
    arguments.insert(arguments.end(), {"env", "-i"});
    for (const auto& [name, value] : *request.environment) arguments.push_back(name + "=" + value);
  }
  arguments.insert(arguments.end(), request.words.begin(), request.words.end());
  const auto start = std::chrono::steady_clock::now();
  PARITAS_ASSIGN(ChildProcess child, ChildProcess::start({"/bin/sh", arguments, output, -1}));
  const pid_t group = child.id();
  result.problem = watch(child, request, output, errors);
  ::kill(-group, SIGKILL);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.ended = child.how_it_ended();
  result.output = tail(output);
  result.messages = tail(errors);
  return result;
}

}  // namespace paritas
