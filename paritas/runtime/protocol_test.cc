#include "paritas/runtime/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas {
namespace {

using ::testing::HasSubstr;

SessionRequest request() {
  SessionRequest made;
  made.model = "/m/model.onnx";
  made.external_data_folder = "/w";
  made.target.spec.text = "qnn:htp,vtcm_mb=8";
  made.target.provider = "QNNExecutionProvider";
  made.target.provider_library = "/l/libq.so";
  made.target.provider_options = {{"a", "b"}, {"c", "\"quoted\"\n"}};
  made.target.session_entries = {{"session.x", "1"}};
  made.target.threads = 3;
  made.target.inter_threads = 2;
  made.target.parallel = true;
  made.target.optimisation = "basic";
  made.target.capabilities.op_trace = true;
  made.fetch = {"out", "ü"};
  made.op_trace = true;
  made.as_application = true;
  return made;
}

Json through_text(const Json& json) { return *parse_json(dump_json(json, -1), "test"); }

TEST(Protocol, SessionRequestSurvives) {
  const SessionRequest sent = request();
  auto got = protocol::decode_session_request(through_text(protocol::encode(sent)));
  ASSERT_TRUE(got.has_value()) << got.error().message();
  EXPECT_EQ(got->model, sent.model);
  EXPECT_EQ(got->external_data_folder, sent.external_data_folder);
  EXPECT_EQ(got->target.spec.text, sent.target.spec.text);
  EXPECT_EQ(got->target.provider, sent.target.provider);
  EXPECT_EQ(got->target.provider_library, sent.target.provider_library);
  EXPECT_EQ(got->target.provider_options, sent.target.provider_options);
  EXPECT_EQ(got->target.session_entries, sent.target.session_entries);
  EXPECT_EQ(got->target.threads, 3);
  EXPECT_EQ(got->target.inter_threads, 2);
  EXPECT_TRUE(got->target.parallel);
  EXPECT_TRUE(got->as_application);
  EXPECT_EQ(got->target.optimisation, "basic");
  EXPECT_TRUE(got->target.capabilities.op_trace);
  EXPECT_EQ(got->fetch, sent.fetch);
  EXPECT_TRUE(got->op_trace);
}

TEST(Protocol, SessionInfoSurvives) {
  SessionInfo sent;
  sent.id = 7;
  sent.inputs = {{"x", DType::kF16, {1, -1}}, {"s", std::nullopt, {}}};
  sent.outputs = {{"y", DType::kI64, {}}};
  sent.assignment = {{"n0", "Add", "P", 0}, {"n1", "d::Op", "Q", 4}};
  sent.partitions = 5;
  sent.op_traces = {"/t/a.json"};
  sent.seconds = 0.25;
  auto got = protocol::decode_session_info(through_text(protocol::encode(sent)));
  ASSERT_TRUE(got.has_value()) << got.error().message();
  EXPECT_EQ(got->id, 7);
  ASSERT_EQ(got->inputs.size(), 2u);
  EXPECT_EQ(got->inputs[0].dtype, DType::kF16);
  EXPECT_EQ(got->inputs[0].dims, (std::vector<int64_t>{1, -1}));
  EXPECT_FALSE(got->inputs[1].dtype.has_value());
  EXPECT_EQ(got->outputs[0].name, "y");
  ASSERT_EQ(got->assignment.size(), 2u);
  EXPECT_EQ(got->assignment[1].op, "d::Op");
  EXPECT_EQ(got->assignment[1].partition, 4);
  EXPECT_EQ(got->partitions, 5);
  EXPECT_EQ(got->op_traces, sent.op_traces);
  EXPECT_EQ(got->seconds, 0.25);
}

TEST(Protocol, EveryMissingOrWrongFieldIsAnError) {
  const Json whole = protocol::encode(request());
  for (const auto& [key, value] : whole.items()) {
    Json without = whole;
    without.erase(key);
    EXPECT_FALSE(protocol::decode_session_request(without).has_value()) << key;
    Json wrong = whole;
    wrong[key] = 42.5;
    EXPECT_FALSE(protocol::decode_session_request(wrong).has_value()) << key;
  }
  EXPECT_FALSE(protocol::decode_session_request(Json::array()).has_value());
  const Json info = protocol::encode(SessionInfo{});
  for (const auto& [key, value] : info.items()) {
    Json wrong = info;
    wrong[key] = value.is_string() ? Json(42.5) : Json("text");
    EXPECT_FALSE(protocol::decode_session_info(wrong).has_value()) << key;
  }
}

TEST(Protocol, ErrorsSurviveAndNeverLackACause) {
  const Error sent{ErrorKind::kInput, "file", "cause", "remedy", "line 1\nline 2"};
  const Error got = protocol::decode_error(through_text(protocol::encode_error(sent)));
  EXPECT_EQ(got.kind, ErrorKind::kInput);
  EXPECT_EQ(got.message(), sent.message());
  EXPECT_EQ(got.details, sent.details);
  const Error empty = protocol::decode_error(Json{{"kind", 99}, {"cause", 3}});
  EXPECT_EQ(empty.kind, ErrorKind::kRuntime);
  EXPECT_FALSE(empty.cause.empty());
}

TEST(Protocol, TensorsAreCheckedAgainstTheirFile) {
  auto scratch = ScratchFolder::create(::testing::TempDir());
  ASSERT_TRUE(scratch.has_value());
  const Path path = scratch->path() / "t.bin";
  ASSERT_TRUE(write_text_atomically(path, "0123456789abcdef", false).has_value());
  auto file = File::open(path);
  ASSERT_TRUE(file.has_value());
  const Json good = protocol::encode_tensors({{"x", Tensor{DType::kF32, {3}, Bytes::in_file(*file, 4, 12)}}});
  auto decoded = protocol::decode_tensors(through_text(good));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
  EXPECT_EQ((*decoded)[0].second.bytes.offset(), 4u);
  auto failure = [&](const char* key, const Json& value) {
    Json bad = good;
    bad[0][key] = value;
    auto result = protocol::decode_tensors(bad);
    EXPECT_FALSE(result.has_value()) << key;
    return result ? "" : result.error().message();
  };
  EXPECT_THAT(failure("offset", 8), HasSubstr("shorter"));
  EXPECT_THAT(failure("offset", UINT64_MAX / 2), HasSubstr("shorter"));
  failure("bytes", 8);
  failure("shape", Json::array({2}));
  failure("shape", Json::array({-3}));
  failure("shape", Json::array({1.5}));
  failure("dtype", "float31");
  failure("dtype", 1);
  EXPECT_THAT(failure("file", "/no/such/file"), HasSubstr("no such file"));
}

}  // namespace
}  // namespace paritas
