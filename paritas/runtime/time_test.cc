// Timing of chains of sessions in a worker.
#include <gmock/gmock.h>

#include "paritas/runtime/protocol.h"
#include "paritas/runtime/test_support.h"

namespace paritas {
namespace {

using runtime_test::TinyModel;
using runtime_test::values_of;
using ::testing::HasSubstr;

constexpr int kFloat = 1;

Tensor floats(const std::vector<float>& values) {
  return tensor_from_values(DType::kF32, {static_cast<int64_t>(values.size())}, values);
}

class RuntimeTime : public runtime_test::WorkerTest {
 protected:
  void SetUp() override {
    WorkerTest::SetUp();
    if (!IsSkipped()) worker_ = start();
  }
  void TearDown() override {
    worker_.reset();
    WorkerTest::TearDown();
  }

  // y = x + x
  int open_twice() {
    TinyModel model;
    model.input("x", kFloat, {-1}).output("y");
    model.node("Add", "", {"x", "x"}, {"y"});
    return open(model.save(folder(), "twice"));
  }
  // c = a * b
  int open_product() {
    TinyModel model;
    model.input("a", kFloat, {-1}).input("b", kFloat, {-1}).output("c");
    model.node("Mul", "", {"a", "b"}, {"c"});
    return open(model.save(folder(), "product"));
  }
  // y: drawn anew by every run
  int open_random() {
    TinyModel model;
    model.input("x", kFloat, {-1}).output("y");
    model.node("RandomUniformLike", "", {"x"}, {"y"});
    return open(model.save(folder(), "random"));
  }
  int open(const Path& path) {
    SessionRequest request;
    request.model = path;
    request.target = target("cpu,opt=all");
    request.as_application = true;
    auto session = worker_->open(request);
    EXPECT_TRUE(session.has_value()) << session.error().message();
    return session ? session->id : 0;
  }

  // result = 2 * image * extra; the sessions' own names are others.
  TimeRequest chain() {
    TimeRequest request;
    request.chain = {{open_twice(), {{"x", "image"}}, {{"y", "feature_0"}}},
                     {open_product(), {{"b", "extra"}, {"a", "feature_0"}}, {{"c", "result"}}}};
    request.inputs = {{"image", floats({1, 2, 3})}, {"extra", floats({10, 20, -30})}};
    request.fetch = {"result"};
    request.warm_up = 1;
    request.runs = 5;
    return request;
  }

  std::string failure(const TimeRequest& request) {
    auto reply = worker_->time(request);
    EXPECT_FALSE(reply.has_value());
    return reply ? "" : reply.error().message();
  }

  std::unique_ptr<Worker> worker_;
};

TEST_F(RuntimeTime, AChainIsRunByTheNamesOfItsTensors) {
  auto reply = worker_->time(chain());
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  ASSERT_EQ(reply->runs.size(), 5u);
  for (const TimedRun& run : reply->runs) {
    ASSERT_EQ(run.stages.size(), 2u);
    EXPECT_GT(run.stages[0], 0);
    EXPECT_GT(run.stages[1], 0);
    // From the first session's start to the last one's end: the hand-over is in it.
    EXPECT_GE(run.chain, run.stages[0] + run.stages[1]);
    EXPECT_LT(run.chain, 1);
  }
  for (const auto& outputs : {reply->first, reply->last}) {
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_EQ(outputs[0].first, "result");
    EXPECT_EQ(values_of<float>(outputs[0].second), (std::vector<float>{20, 80, -180}));
  }
  EXPECT_GT(reply->resident_bytes, 1'000'000u);
  EXPECT_LE(reply->resident_bytes, worker_->peak_resident_bytes());
}

TEST_F(RuntimeTime, WhatIsHandedOverCanBeFetchedToo) {
  TimeRequest request = chain();
  request.fetch = {"feature_0", "result"};
  request.runs = 1;
  auto reply = worker_->time(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  EXPECT_EQ(values_of<float>(reply->last[0].second), (std::vector<float>{2, 4, 6}));
}

TEST_F(RuntimeTime, EveryRunIsHeldAgainstWhatIsExpected) {
  TimeRequest request = chain();
  request.against = {{"result", floats({20, 80, -180})}};
  auto same = worker_->time(request);
  ASSERT_TRUE(same.has_value()) << same.error().message();
  EXPECT_EQ(same->differing, 0u);
  EXPECT_FALSE(same->first_differing.has_value());
  request.against = {{"result", floats({20, 80, -180.0001f})}};
  auto other = worker_->time(request);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->differing, 5u);
  EXPECT_EQ(other->first_differing, 0u);
  request.against = {{"result", floats({20, 80})}};  // another shape
  EXPECT_EQ(worker_->time(request)->differing, 5u);
}

TEST_F(RuntimeTime, ResultsThatMoveAreSeen) {
  TimeRequest request;
  request.chain = {{open_random(), {{"x", "x"}}, {{"y", "y"}}}};
  request.inputs = {{"x", floats({1, 2, 3})}};
  request.fetch = {"y"};
  request.runs = 3;
  auto reply = worker_->time(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  const auto first = values_of<float>(reply->first[0].second);
  EXPECT_NE(first, values_of<float>(reply->last[0].second));
  request.against = {{"y", floats(first)}};
  EXPECT_EQ(worker_->time(request)->differing, 3u);
}

TEST_F(RuntimeTime, EndsWhenItsTimeIsOver) {
  TimeRequest request = chain();
  request.runs = kMostTimedRuns;
  request.seconds = 0.05;
  auto reply = worker_->time(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  EXPECT_LT(reply->runs.size(), static_cast<size_t>(kMostTimedRuns));
  request.seconds = 1e-9;  // one run at least
  EXPECT_EQ(worker_->time(request)->runs.size(), 1u);
}

TEST_F(RuntimeTime, AChainThatDoesNotHoldTogetherIsRefused) {
  TimeRequest request = chain();
  TimeRequest bad = request;
  bad.chain[1].inputs[1].second = "feature_1";
  EXPECT_THAT(failure(bad), HasSubstr("reads \"feature_1\", which nothing before it makes"));
  bad = request;
  std::swap(bad.chain[0], bad.chain[1]);
  EXPECT_THAT(failure(bad), HasSubstr("nothing before it makes"));
  bad = request;
  bad.chain[1].inputs.pop_back();
  EXPECT_THAT(failure(bad), HasSubstr("the input \"a\" must be given once"));
  bad = request;
  bad.chain[1].outputs[0].second = "image";
  EXPECT_THAT(failure(bad), HasSubstr("made twice"));
  bad = request;
  bad.chain[0].outputs[0].first = "nope";
  EXPECT_THAT(failure(bad), HasSubstr("has no output \"nope\""));
  bad = request;
  bad.fetch = {"image"};
  EXPECT_THAT(failure(bad), HasSubstr("no session of it makes"));
  bad = request;
  bad.chain[0].session = 99;
  EXPECT_THAT(failure(bad), HasSubstr("no session 99"));
  bad = request;
  bad.runs = 0;
  EXPECT_THAT(failure(bad), HasSubstr("cannot be timed"));
  bad = request;
  bad.inputs[1].second = floats({1, 2});  // what the session itself refuses
  EXPECT_THAT(failure(bad), HasSubstr("product.onnx"));
  EXPECT_TRUE(worker_->time(request).has_value());  // and the worker goes on
}

TEST_F(RuntimeTime, ParallelExecutionRuns) {
  SessionRequest open;
  TinyModel model;
  model.input("x", kFloat, {-1}).output("z");
  model.node("Add", "", {"x", "x"}, {"y"});
  model.node("Mul", "", {"x", "x"}, {"w"});
  model.node("Sub", "", {"y", "w"}, {"z"});
  open.model = model.save(folder(), "branches");
  open.target = target("cpu,opt=all,threads=2,mode=parallel,inter=2");
  open.as_application = true;
  auto session = worker_->open(open);
  ASSERT_TRUE(session.has_value()) << session.error().message();
  TimeRequest request;
  request.chain = {{session->id, {{"x", "x"}}, {{"z", "z"}}}};
  request.inputs = {{"x", floats({3})}};
  request.fetch = {"z"};
  auto reply = worker_->time(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  EXPECT_EQ(values_of<float>(reply->last[0].second), (std::vector<float>{-3}));
}

TEST(ProtocolTime, RequestsAndRepliesSurvive) {
  TimeRequest sent;
  sent.chain = {{4, {{"a", "b"}}, {{"c", "d"}, {"e", "f"}}}};
  sent.fetch = {"d"};
  sent.warm_up = 2;
  sent.runs = 7;
  sent.seconds = 1.5;
  const Json whole = protocol::encode(sent);
  auto got = protocol::decode_time_request(whole);
  ASSERT_TRUE(got.has_value()) << got.error().message();
  ASSERT_EQ(got->chain.size(), 1u);
  EXPECT_EQ(got->chain[0].session, 4);
  EXPECT_EQ(got->chain[0].outputs, sent.chain[0].outputs);
  EXPECT_EQ(got->fetch, sent.fetch);
  EXPECT_EQ(got->warm_up, 2);
  EXPECT_EQ(got->runs, 7);
  EXPECT_EQ(got->seconds, 1.5);
  for (const auto& [key, value] : whole.items()) {
    Json without = whole;
    without.erase(key);
    EXPECT_FALSE(protocol::decode_time_request(without).has_value()) << key;
    Json wrong = whole;
    wrong[key] = "text";
    EXPECT_FALSE(protocol::decode_time_request(wrong).has_value()) << key;
  }
  const Json reply = {{"runs", Json::array({Json::array({1.0, 0.5})})},
                      {"differing", 1u},
                      {"first_differing", 0u},
                      {"resident", 5u},
                      {"cpu_seconds", 2}};
  auto read = protocol::decode_time_reply(reply);
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_EQ(read->runs[0].stages, (std::vector<double>{0.5}));
  EXPECT_EQ(read->first_differing, 0u);
  for (const char* key : {"runs", "differing", "resident", "cpu_seconds"}) {
    Json without = reply;
    without.erase(key);
    EXPECT_FALSE(protocol::decode_time_reply(without).has_value()) << key;
  }
}

}  // namespace
}  // namespace paritas
