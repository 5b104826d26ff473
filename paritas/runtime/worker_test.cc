#include "paritas/runtime/worker.h"

#include <csignal>
#include <fstream>
#include <thread>

#include <sys/stat.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "paritas/base/sha256.h"
#include "paritas/runtime/child_process.h"
#include "paritas/runtime/test_support.h"

namespace paritas {
namespace {

using runtime_test::TinyModel;
using runtime_test::values_of;
using ::testing::HasSubstr;

constexpr int kFloat = 1;
constexpr int kString = 8;

class RuntimeWorker : public runtime_test::WorkerTest {
 protected:
  // y = x + x, z = y * x
  Path twice() const {
    TinyModel model;
    model.input("x", kFloat, {-1}).output("y").output("z");
    model.node("Add", "", {"x", "x"}, {"y"});
    model.node("Mul", "", {"y", "x"}, {"z"});
    return model.save(folder());
  }

  // An executable script that acts as the worker and misbehaves; $r and $w are its descriptors.
  Path script(const std::string& body) const {
    const Path path = folder() / "fake-worker";
    std::ofstream(path) << "#!/bin/bash\nr=$3; w=$4\n" << body << "\n";
    ::chmod(path.c_str(), 0700);
    return path;
  }

  Error start_failure(WorkerOptions options) const {
    auto worker = Worker::start(options);
    EXPECT_FALSE(worker.has_value());
    return worker ? Error{} : worker.error();
  }

  Target faulty(const char* library) const {
    Target made;
    made.spec.text = "ort:Faulty";
    made.provider = "Faulty";
    made.provider_library = library;
    return made;
  }
};

Tensor floats(const Shape& shape, const std::vector<float>& values) {
  return tensor_from_values(DType::kF32, shape, values);
}

TEST_F(RuntimeWorker, OpensRunsAndCloses) {
  auto worker = start();
  ASSERT_NE(worker, nullptr);
  EXPECT_FALSE(worker->identity().version.empty());
  EXPECT_EQ(worker->identity().sha256, *sha256_of_file(worker->identity().path));
  auto session = worker->open({twice(), {}, target("cpu"), {}, false});
  ASSERT_TRUE(session.has_value()) << session.error().message();
  ASSERT_EQ(session->inputs.size(), 1u);
  EXPECT_EQ(session->inputs[0].name, "x");
  EXPECT_EQ(session->inputs[0].dtype, DType::kF32);
  EXPECT_EQ(session->inputs[0].dims, (std::vector<int64_t>{-1}));
  ASSERT_EQ(session->assignment.size(), 2u);
  EXPECT_EQ(session->assignment[0].name, "y_node");
  EXPECT_EQ(session->assignment[0].op, "Add");
  EXPECT_EQ(session->assignment[0].provider, "CPUExecutionProvider");
  auto reply = worker->run({session->id, {{"x", floats({3}, {1, 2, -3})}}, {}, {}});
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  ASSERT_EQ(reply->outputs.size(), 2u);
  EXPECT_EQ(reply->outputs[0].first, "y");
  EXPECT_EQ(values_of<float>(reply->outputs[0].second), (std::vector<float>{2, 4, -6}));
  EXPECT_EQ(values_of<float>(reply->outputs[1].second), (std::vector<float>{2, 8, 18}));
  EXPECT_GT(worker->peak_resident_bytes(), 1'000'000u);
  // The session's own choice, and one for a single run.
  auto fetched = worker->run({session->id, {{"x", floats({1}, {5})}}, {"z"}, {}});
  ASSERT_TRUE(fetched.has_value());
  ASSERT_EQ(fetched->outputs.size(), 1u);
  EXPECT_EQ(values_of<float>(fetched->outputs[0].second), (std::vector<float>{50}));
  EXPECT_TRUE(worker->close(session->id).has_value());
  auto closed = worker->run({session->id, {{"x", floats({1}, {5})}}, {}, {}});
  ASSERT_FALSE(closed.has_value());
  EXPECT_THAT(closed.error().message(), HasSubstr("no session"));
}

TEST_F(RuntimeWorker, OutputFilesLiveAsLongAsTheirTensors) {
  auto worker = start();
  ASSERT_NE(worker, nullptr);
  auto session = worker->open({twice(), {}, target("cpu"), {"y"}, false});
  ASSERT_TRUE(session.has_value());
  auto files = [&] {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder() / "worker"))
      count += entry.path().extension() == ".tensors" ? 1 : 0;
    return count;
  };
  auto first = worker->run({session->id, {{"x", floats({2}, {1, 2})}}, {}, {}});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(files(), 1u);  // the input's file is gone already
  // A result may be the input of another run, by reference.
  auto second = worker->run({session->id, {{"x", first->outputs[0].second}}, {}, {}});
  ASSERT_TRUE(second.has_value()) << second.error().message();
  EXPECT_EQ(values_of<float>(second->outputs[0].second), (std::vector<float>{4, 8}));
  const Tensor kept = first->outputs[0].second;
  first = RunReply{};
  EXPECT_EQ(files(), 2u);
  second = RunReply{};
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(values_of<float>(kept), (std::vector<float>{2, 4}));
}

TEST_F(RuntimeWorker, UnalignedAndEmptyInputsWork) {
  auto worker = start();
  ASSERT_NE(worker, nullptr);
  auto session = worker->open({twice(), {}, target("cpu"), {"y"}, false});
  ASSERT_TRUE(session.has_value());
  const Path path = folder() / "odd.bin";
  const float values[2] = {1.5f, -2.0f};
  std::ofstream(path, std::ios::binary) << 'x'
                                        << std::string_view(reinterpret_cast<const char*>(values), sizeof values);
  auto file = File::open(path);
  ASSERT_TRUE(file.has_value());
  auto odd = worker->run({session->id, {{"x", Tensor{DType::kF32, {2}, Bytes::in_file(*file, 1, 8)}}}, {}, {}});
  ASSERT_TRUE(odd.has_value()) << odd.error().message();
  EXPECT_EQ(values_of<float>(odd->outputs[0].second), (std::vector<float>{3, -4}));
  auto empty = worker->run({session->id, {{"x", floats({0}, {})}}, {}, {}});
  ASSERT_TRUE(empty.has_value()) << empty.error().message();
  EXPECT_EQ(empty->outputs[0].second.shape, Shape{0});
}

TEST_F(RuntimeWorker, WrongRequestsAreErrorsThatLeaveItAlive) {
  auto worker = start();
  ASSERT_NE(worker, nullptr);
  auto session = worker->open({twice(), {}, target("cpu"), {}, false});
  ASSERT_TRUE(session.has_value());
  auto failure = [&](std::vector<std::pair<std::string, Tensor>> inputs, std::vector<std::string> fetch) {
    auto reply = worker->run({session->id, std::move(inputs), std::move(fetch), {}});
    EXPECT_FALSE(reply.has_value());
    return reply ? "" : reply.error().message();
  };
  EXPECT_THAT(failure({}, {}), HasSubstr("\"x\" is missing"));
  EXPECT_THAT(failure({{"q", floats({1}, {1})}}, {}), HasSubstr("no input \"q\"; its inputs are x"));
  EXPECT_THAT(failure({{"x", floats({1}, {1})}}, {"nope"}), HasSubstr("no output \"nope\""));
  EXPECT_THAT(failure({{"x", floats({1, 1}, {1})}}, {}), HasSubstr("running on cpu"));
  EXPECT_THAT(failure({{"x", tensor_from_values<int64_t>(DType::kI64, {1}, {1})}}, {}), HasSubstr("running on cpu"));
  EXPECT_FALSE(worker->open({folder() / "absent.onnx", {}, target("cpu"), {}, false}).has_value());
  std::ofstream(folder() / "garbage.onnx") << "not a model";
  auto garbage = worker->open({folder() / "garbage.onnx", {}, target("cpu"), {}, false});
  ASSERT_FALSE(garbage.has_value());
  EXPECT_THAT(garbage.error().message(), HasSubstr("garbage.onnx"));
  EXPECT_EQ(garbage.error().kind, ErrorKind::kRuntime);
  EXPECT_FALSE(worker->open({twice(), {}, target("cpu"), {"nope"}, false}).has_value());
  EXPECT_TRUE(worker->run({session->id, {{"x", floats({1}, {1})}}, {}, {}}).has_value());
}

TEST_F(RuntimeWorker, StringOutputsAreRefusedByName) {
  TinyModel model;
  model.input("words", kString, {2}).output("same");
  model.node("Identity", "", {"words"}, {"same"});
  auto& graph = model.graph();
  graph.clear_input();
  auto* words = graph.add_initializer();
  words->set_name("words");
  words->set_data_type(kString);
  words->add_dims(1);
  words->add_string_data("a");
  auto worker = start();
  ASSERT_NE(worker, nullptr);
  auto session = worker->open({model.save(folder()), {}, target("cpu"), {}, false});
  ASSERT_TRUE(session.has_value()) << session.error().message();
  EXPECT_FALSE(session->outputs[0].dtype.has_value());
  auto reply = worker->run({session->id, {}, {}, {}});
  ASSERT_FALSE(reply.has_value());
  EXPECT_THAT(reply.error().message(), HasSubstr("\"same\" holds strings"));
}

TEST_F(RuntimeWorker, SaysWhichLibraryDoesNotLoad) {
  WorkerOptions wrong = options();
  wrong.onnxruntime = folder() / "libonnxruntime.so.1";
  EXPECT_THAT(start_failure(wrong).message(), HasSubstr("cannot be loaded as ONNX Runtime"));
  std::ofstream(wrong.onnxruntime) << "no library";
  const Error error = start_failure(wrong);
  EXPECT_THAT(error.message(), HasSubstr("cannot be loaded as ONNX Runtime"));
  EXPECT_THAT(error.remedy, HasSubstr("pip install onnxruntime"));
  EXPECT_EQ(error.kind, ErrorKind::kRuntime);
  wrong.onnxruntime = PARITAS_TEST_PROVIDER_CRASH;
  EXPECT_THAT(start_failure(wrong).message(), HasSubstr("not ONNX Runtime"));
}

TEST_F(RuntimeWorker, BadExecutablesAreReported) {
  WorkerOptions wrong = options();
  wrong.executable = folder() / "absent";
  EXPECT_THAT(start_failure(wrong).message(), HasSubstr("No such file"));
  wrong.executable = "/bin/false";
  EXPECT_THAT(start_failure(wrong).message(), HasSubstr("exit code 1"));
  wrong.executable = script("echo last words; exit 3");
  const Error error = start_failure(wrong);
  EXPECT_THAT(error.message(), HasSubstr("the worker ended (exit code 3) while loading ONNX Runtime"));
  EXPECT_THAT(error.details, HasSubstr("last words"));
}

TEST_F(RuntimeWorker, MalformedRepliesAreErrors) {
  for (const char* reply : {"hello", "[]", "{}", "{\"ok\":1}", "{\"ok\":true}", "{\"ok\":false}", "3", "\"\\ud800\""}) {
    WorkerOptions wrong = options();
    wrong.executable = script(fmt::format("read -r line <&$r; echo '{}' >&$w; read -r quit <&$r", reply));
    const Error error = start_failure(wrong);
    EXPECT_FALSE(error.message().empty()) << reply;
  }
}

TEST_F(RuntimeWorker, ACrashNamesTheSignalAndWhatWasSaid) {
  auto worker = start();
  ASSERT_NE(worker, nullptr);
  auto session = worker->open({twice(), {}, faulty(PARITAS_TEST_PROVIDER_CRASH), {}, false});
  ASSERT_FALSE(session.has_value());
  EXPECT_EQ(session.error().kind, ErrorKind::kRuntime);
  EXPECT_THAT(session.error().message(),
              HasSubstr("the worker crashed (signal 6: Aborted) while opening a session on ort:Faulty"));
  EXPECT_THAT(session.error().details, HasSubstr("vendor assertion failed: firmware not found"));
  EXPECT_THAT(worker->captured_output(), HasSubstr("firmware not found"));
  auto after = worker->run({1, {}, {}, {}});
  ASSERT_FALSE(after.has_value());
  EXPECT_THAT(after.error().message(), HasSubstr("no longer runs"));
  ASSERT_TRUE(worker->died().has_value());
  EXPECT_THAT(worker->died()->message(), HasSubstr("the worker crashed (signal 6: Aborted) while opening a session"));
}

TEST_F(RuntimeWorker, SaysWhetherItStillRuns) {
  auto worker = start();
  ASSERT_NE(worker, nullptr);
  EXPECT_FALSE(worker->died().has_value());
  EXPECT_FALSE(worker->open({folder() / "absent.onnx", {}, target("cpu"), {}, false}).has_value());
  EXPECT_FALSE(worker->died().has_value());  // a session that cannot be opened kills nobody
  // One that ends between two requests is noticed without one.
  WorkerOptions brief = options("brief");
  std::filesystem::create_directory(brief.scratch);
  brief.executable = script("read -r line <&$r; echo '{\"ok\":true,\"version\":\"1\",\"path\":\"/x\"}' >&$w; exit 4");
  auto ended = Worker::start(brief);
  ASSERT_TRUE(ended.has_value()) << ended.error().message();
  for (int i = 0; i < 200 && !(*ended)->died(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE((*ended)->died().has_value());
  EXPECT_THAT((*ended)->died()->message(), HasSubstr("the worker ended (exit code 4) while waiting for a request"));
}

TEST_F(RuntimeWorker, AHangIsKilledAfterTheTimeout) {
  WorkerOptions short_patience = options();
  short_patience.timeout = std::chrono::seconds(3);
  auto worker = Worker::start(short_patience);
  ASSERT_TRUE(worker.has_value()) << worker.error().message();
  const auto begin = std::chrono::steady_clock::now();
  auto session = (*worker)->open({twice(), {}, faulty(PARITAS_TEST_PROVIDER_HANG), {}, false});
  ASSERT_FALSE(session.has_value());
  EXPECT_THAT(session.error().message(), HasSubstr("no answer within 3 s while opening a session on ort:Faulty"));
  EXPECT_THAT(session.error().message(), HasSubstr("killed"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(RuntimeWorker, AKilledWorkerIsNoticed) {
  WorkerOptions own = options();
  own.executable =
      script(fmt::format("echo $$ > {}/pid; exec {} worker --control $r $w", folder().string(), PARITAS_TEST_WORKER));
  auto worker = Worker::start(own);
  ASSERT_TRUE(worker.has_value()) << worker.error().message();
  pid_t pid = 0;
  std::ifstream(folder() / "pid") >> pid;
  ASSERT_GT(pid, 0);
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  auto session = (*worker)->open({twice(), {}, target("cpu"), {}, false});
  ASSERT_FALSE(session.has_value());
  EXPECT_THAT(session.error().message(), HasSubstr("the worker crashed (signal 9: Killed)"));
}

TEST_F(RuntimeWorker, AbsentAndWrongProviderLibraries) {
  auto worker = start();
  ASSERT_NE(worker, nullptr);
  auto absent = worker->open({twice(), {}, faulty("/no/such/libprovider.so"), {}, false});
  ASSERT_FALSE(absent.has_value());
  EXPECT_THAT(absent.error().message(), HasSubstr("/no/such/libprovider.so: no such file"));
  const Path text = folder() / "libtext.so";
  std::ofstream(text) << "no library";
  auto wrong = worker->open({twice(), {}, faulty(text.c_str()), {}, false});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message(), HasSubstr("opening a session on ort:Faulty"));
  EXPECT_TRUE(worker->open({twice(), {}, target("cpu"), {}, false}).has_value());
}

TEST_F(RuntimeWorker, TwoWorkersServeTwoThreadsThatEndBeforeThem) {
  const Path model = twice();
  std::unique_ptr<Worker> workers[2];
  int sessions[2] = {};
  {
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        auto worker = Worker::start(options(fmt::format("worker-{}", i)));
        ASSERT_TRUE(worker.has_value()) << worker.error().message();
        workers[i] = std::move(*worker);
        auto session = workers[i]->open({model, {}, target("cpu"), {"y"}, false});
        ASSERT_TRUE(session.has_value()) << session.error().message();
        sessions[i] = session->id;
        for (int run = 0; run < 20; ++run) {
          auto reply = workers[i]->run({sessions[i], {{"x", floats({1}, {static_cast<float>(run)})}}, {}, {}});
          ASSERT_TRUE(reply.has_value()) << reply.error().message();
          EXPECT_EQ(values_of<float>(reply->outputs[0].second), (std::vector<float>{2.0f * static_cast<float>(run)}));
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (int i = 0; i < 2; ++i) {
    ASSERT_NE(workers[i], nullptr);
    EXPECT_TRUE(workers[i]->run({sessions[i], {{"x", floats({1}, {1})}}, {}, {}}).has_value());
  }
}

TEST_F(RuntimeWorker, DiesWithItsMainProcess) {
  // A worker whose main process is killed without any chance to clean up. That one is a process of its own program: a
  // plain fork() of this one would lack the thread that starts workers.
  const Path pid_file = folder() / "pid";
  const std::string fake =
      script(fmt::format("echo $$ > {}; exec {} worker --control $r $w", pid_file.string(), PARITAS_TEST_WORKER))
          .string();
  auto main_process = ChildProcess::start({PARITAS_TEST_WORKER,
                                           {"orphan", fake, (folder() / "orphan").string(), library_.string()},
                                           folder() / "orphan.log",
                                           -1});
  ASSERT_TRUE(main_process.has_value()) << main_process.error().message();
  ASSERT_TRUE(main_process->wait(std::chrono::seconds(20)));
  EXPECT_EQ(main_process->how_it_ended(), "signal 9: Killed");
  pid_t pid = 0;
  std::ifstream(pid_file) >> pid;
  ASSERT_GT(pid, 0);
  // Gone, or a zombie that waits for init.
  auto running = [&] {
    std::ifstream stat(fmt::format("/proc/{}/stat", pid));
    std::string text((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
    return !text.empty() && text.find(") Z ") == std::string::npos && text.find(") X ") == std::string::npos;
  };
  for (int i = 0; i < 200 && running(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(running());
}

}  // namespace
}  // namespace paritas
