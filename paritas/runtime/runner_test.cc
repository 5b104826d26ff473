// Sessions that stay open between samples: one per graph, whatever is done with them in between.
#include "paritas/runtime/runner.h"

#include "paritas/runtime/test_support.h"
#include "paritas/tensor/tensor.h"

namespace paritas {
namespace {

using runtime_test::TinyModel;
using runtime_test::values_of;

class KeptSessions : public runtime_test::WorkerTest {
 protected:
  // y = x `op` x
  onnx_model::Model model(const std::string& op) const {
    TinyModel tiny;
    tiny.input("x", 1, {2}).output("y");
    tiny.node(op, "", {"x", "x"}, {"y"});
    return std::move(*onnx_model::Model::load(tiny.save(folder(), op)));
  }
  Runner runner(size_t kept) {
    auto made = Runner::start_in(folder(), "runner", target("cpu"), options());
    EXPECT_TRUE(made) << made.error().message();
    if (kept > 0) made->keep_sessions(kept);
    return std::move(*made);
  }
  static float run(Session& session, float x) {
    auto reply = session.run({{"x", tensor_from_values(DType::kF32, {2}, std::vector<float>{x, x})}});
    EXPECT_TRUE(reply) << reply.error().message();
    return reply ? values_of<float>(reply->outputs[0].second)[0] : 0;
  }
};

TEST_F(KeptSessions, AGraphIsOpenedOnce) {
  Runner kept = runner(4);
  int id = -1;
  for (int i = 1; i <= 3; ++i) {
    auto session = kept.open(model("Add"));
    ASSERT_TRUE(session) << session.error().message();
    EXPECT_EQ(run(*session, static_cast<float>(i)), static_cast<float>(2 * i));
    if (id >= 0) {
      EXPECT_EQ(session->info().id, id);
    }
    id = session->info().id;
  }
  EXPECT_EQ(kept.sessions_opened(), 1);
  auto other = kept.open(model("Mul"));
  ASSERT_TRUE(other);
  EXPECT_EQ(run(*other, 3), 9);
  EXPECT_EQ(kept.sessions_opened(), 2);
}

TEST_F(KeptSessions, WhatIsInUseIsNotHandedOutAgain) {
  Runner kept = runner(4);
  auto first = kept.open(model("Add"));
  auto second = kept.open(model("Add"));
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->info().id, second->info().id);
  EXPECT_EQ(kept.sessions_opened(), 2);
}

TEST_F(KeptSessions, AFailedSessionIsNotUsedAgain) {
  Runner kept = runner(4);
  {
    auto session = kept.open(model("Add"));
    ASSERT_TRUE(session);
    EXPECT_FALSE(session->run({{"wrong", tensor_from_values(DType::kF32, {2}, std::vector<float>{1, 1})}}));
  }
  auto session = kept.open(model("Add"));
  ASSERT_TRUE(session);
  EXPECT_EQ(kept.sessions_opened(), 2);
}

TEST_F(KeptSessions, NoMoreThanAllowedStayOpen) {
  Runner kept = runner(1);
  for (const char* op : {"Add", "Mul", "Add", "Mul"}) ASSERT_TRUE(kept.open(model(op)));
  EXPECT_EQ(kept.sessions_opened(), 4);
  ASSERT_TRUE(kept.open(model("Mul")));
  EXPECT_EQ(kept.sessions_opened(), 4);
}

TEST_F(KeptSessions, NothingIsKeptUnasked) {
  Runner plain = runner(0);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(plain.open(model("Add")));
  EXPECT_EQ(plain.sessions_opened(), 2);
}

}  // namespace
}  // namespace paritas
