#include "paritas/runtime/marked_run.h"

#include <chrono>
#include <deque>

#include <fmt/format.h>

namespace paritas {
namespace {

// Assumed size of a tensor whose shape nobody knows before the run.
constexpr uint64_t kUnknownBytes = uint64_t{1} << 20;

class Marking {
 public:
  Marking(Runner& runner, const MarkedRequest& request) : runner_(runner), request_(request) {}

  Result<MarkedRun> run() {
    const auto start = std::chrono::steady_clock::now();
    std::deque<std::vector<std::string>> queue;
    for (auto& chunk : split_by_known_sizes()) queue.push_back(std::move(chunk));
    if (queue.empty()) queue.emplace_back();
    const int max_sessions =
        request_.max_sessions + (request_.marks_per_session > 0 ? static_cast<int>(queue.size()) : 0);
    while (!queue.empty()) {
      auto marks = std::move(queue.front());
      queue.pop_front();
      if (result_.sessions >= max_sessions) {
        for (const auto& mark : marks) result_.failed.emplace(mark, too_many());
        continue;
      }
      PARITAS_TRY(run_chunk(std::move(marks), queue));
    }
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  uint64_t known_bytes(const std::string& mark) const {
    auto it = request_.bytes.find(mark);
    return it == request_.bytes.end() ? 0 : it->second;
  }

  bool full(const std::vector<std::string>& chunk) const {
    return request_.marks_per_session > 0 && std::ssize(chunk) >= request_.marks_per_session;
  }

  std::vector<std::vector<std::string>> split_by_known_sizes() const {
    std::vector<std::vector<std::string>> chunks;
    uint64_t held = 0;
    for (const std::string& mark : request_.marks) {
      const uint64_t bytes = known_bytes(mark);
      if (chunks.empty() || full(chunks.back()) || (held + bytes > request_.memory_budget && !chunks.back().empty())) {
        chunks.emplace_back();
        held = 0;
      }
      chunks.back().push_back(mark);
      held += bytes;
    }
    return chunks;
  }

  static uint64_t session_bytes(const PortInfo& port) {
    if (!port.dtype) return 0;
    Shape shape;
    for (int64_t dim : port.dims) {
      if (dim < 0) return kUnknownBytes;
      shape.push_back(dim);
    }
    auto count = element_count(shape);
    return count ? byte_size(*port.dtype, *count) : kUnknownBytes;
  }

  // Opens and runs one chunk. A refused session, or one that would hold too much, goes back to the queue in halves.
  Status run_chunk(std::vector<std::string> marks, std::deque<std::vector<std::string>>& queue) {
    PARITAS_ASSIGN(auto marked, onnx_model::mark_outputs(*request_.model, marks));
    auto session = runner_.open(marked);
    ++result_.sessions;
    if (!session) return refuse(std::move(marks), session.error(), queue);
    uint64_t held = 0;
    std::vector<std::string> fetch;
    for (const PortInfo& output : session->info().outputs) {
      held += session_bytes(output);
      if (output.dtype) fetch.push_back(output.name);
    }
    if (held > request_.memory_budget && marks.size() > 1) {
      --result_.sessions;  // not run: only its shapes were of use
      split_by_session(marks, session->info(), queue);
      return {};
    }
    auto reply = session->run(request_.inputs, fetch);
    if (!reply) return refuse(std::move(marks), reply.error(), queue);
    if (result_.unoptimised_because.empty()) result_.unoptimised_because = session->info().unoptimised_because;
    if (result_.assignment.empty()) {
      result_.assignment = session->info().assignment;
      result_.partitions = session->info().partitions;
    }
    ++result_.graphs;
    for (auto& [name, tensor] : reply->outputs)
      if (result_.tensors.emplace(name, std::move(tensor)).second) result_.graph_of[name] = result_.graphs;
    for (const std::string& mark : marks)
      if (result_.tensors.count(mark) == 0) result_.failed.emplace(mark, "not a tensor");
    return {};
  }

  void split_by_session(const std::vector<std::string>& marks, const SessionInfo& info,
                        std::deque<std::vector<std::string>>& queue) const {
    std::unordered_map<std::string, uint64_t> bytes;
    for (const PortInfo& output : info.outputs) bytes[output.name] = session_bytes(output);
    std::vector<std::vector<std::string>> chunks(1);
    uint64_t held = 0;
    for (const std::string& mark : marks) {
      const uint64_t size = bytes.count(mark) ? bytes[mark] : kUnknownBytes;
      if (held + size > request_.memory_budget && !chunks.back().empty()) {
        chunks.emplace_back();
        held = 0;
      }
      chunks.back().push_back(mark);
      held += size;
    }
    if (chunks.size() == 1) {  // the graph's own outputs take the budget: halve instead of looping
      const auto middle = marks.begin() + static_cast<std::ptrdiff_t>(marks.size() / 2);
      chunks = {{marks.begin(), middle}, {middle, marks.end()}};
    }
    for (auto it = chunks.rbegin(); it != chunks.rend(); ++it) queue.push_front(std::move(*it));
  }

  Status refuse(std::vector<std::string> marks, const Error& error, std::deque<std::vector<std::string>>& queue) {
    if (marks.empty()) return tl::make_unexpected(error);
    last_refusal_ = error.cause;
    if (marks.size() == 1) {
      result_.failed.emplace(marks.front(), error.cause);
      return {};
    }
    const auto middle = marks.begin() + static_cast<std::ptrdiff_t>(marks.size() / 2);
    queue.emplace_back(middle, marks.end());
    queue.emplace_front(marks.begin(), middle);
    return {};
  }

  std::string too_many() const {
    return "too many sessions were needed to mark it" +
           (last_refusal_.empty() ? "" : fmt::format(" (the last refusal: {})", last_refusal_));
  }

  Runner& runner_;
  const MarkedRequest& request_;
  MarkedRun result_;
  std::string last_refusal_;
};

}  // namespace

std::string graph_of(const MarkedRun& run, const std::string& tensor) {
  const auto it = run.graph_of.find(tensor);
  if (it == run.graph_of.end()) return {};
  return run.graphs == 1 && run.failed.empty() ? "all marks" : fmt::format("marks {}/{}", it->second, run.graphs);
}

Result<MarkedRun> run_marked(Runner& runner, const MarkedRequest& request) { return Marking(runner, request).run(); }

}  // namespace paritas
