// Random changes of a small model's bytes: it is refused, or it can be promoted and read again. Nothing crashes.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "paritas/tflite/promote.h"
#include "paritas/tflite/testing.h"

namespace paritas::tflite {
namespace {

std::vector<char> small_model(const Path& folder) {
  TinyTflite tiny;
  const int x = tiny.quantised("x", kTestInt8, {1, 4}, {0.5f}, {-1});
  const int w = tiny.constant<int8_t>(tiny.quantised("w", kTestInt8, {1, 4}, {0.25f}, {0}), {1, 2, 3, 4});
  const int s = tiny.quantised("s", kTestInt8, {1, 4}, {0.5f}, {3});
  const int y = tiny.quantised("y", kTestUint8, {1, 4}, {0.5f}, {131});
  tiny.op(kTestAdd, {x, w}, {s}, 11);
  tiny.op(kTestQuantize, {s}, {y});
  tiny.ports({x}, {y});
  std::ifstream in(tiny.save(folder), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(TfliteDamage, WhatLoadsCanBePromotedAndLoadedAgain) {
  const auto scratch = ScratchFolder::create(::testing::TempDir());
  ASSERT_TRUE(scratch.has_value());
  const std::vector<char> whole = small_model(scratch->path());
  std::mt19937 random(7);  // the same changes everywhere
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  int loaded = 0, refused = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<char> bytes = whole;
    for (size_t changes = 1 + below(3); changes > 0; --changes)
      bytes[below(bytes.size())] = static_cast<char>(random());
    if (round % 5 == 0) bytes.resize(1 + below(bytes.size()));
    const Path path = scratch->path() / "damaged.tflite", promoted = scratch->path() / "promoted.tflite";
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto model = Model::load(path);
    if (!model) {
      ++refused;
      EXPECT_FALSE(model.error().cause.empty());
      continue;
    }
    ++loaded;
    for (const GraphTensor& tensor : model->main().tensors) (void)model->constant(0, tensor.index);
    const std::vector<int> more = promotable(*model);
    if (!promote(*model, more, promoted)) continue;  // no list of outputs to extend
    const auto again = Model::load(promoted);
    ASSERT_TRUE(again.has_value()) << again.error().message();
    ASSERT_EQ(again->main().outputs.size(), model->main().outputs.size() + more.size());
    ASSERT_TRUE(promotable(*again).empty());
  }
  EXPECT_GT(loaded, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace paritas::tflite
