// What the tests of this folder share: tiny models, a worker on the real ONNX Runtime, and a check for children left
// over.
#pragma once

#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include <sys/wait.h>

#include <gtest/gtest.h>

#include <paritas_onnx_proto/onnx-ml.pb.h>

#include "paritas/runtime/worker.h"

namespace paritas::runtime_test {

// Site folders of the environment that the build was told about; empty without one.
inline RuntimeSearch search() {
  RuntimeSearch result;
  const std::string environment = PARITAS_PYTHON_ENV;
  std::error_code code;
  if (environment.empty()) return result;
  for (const auto& entry : std::filesystem::directory_iterator(environment + "/lib", code)) {
    if (std::filesystem::is_directory(entry.path() / "site-packages", code))
      result.python_site_folders.push_back(entry.path() / "site-packages");
  }
  return result;
}

inline Path models() {
  if (const char* given = std::getenv("PARITAS_TEST_MODELS")) return given;
  return Path(PARITAS_SOURCE_DIR) / ".." / "shared" / "models";
}

// A graph builder for models of a few nodes, opset 17 plus our own operators.
class TinyModel {
 public:
  TinyModel() {
    proto_.set_ir_version(8);
    add_opset("", 17);
    add_opset("paritas.ops", 1);
    proto_.mutable_graph()->set_name("tiny");
  }

  void add_opset(const std::string& domain, int64_t version) {
    auto* opset = proto_.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  }

  static void set_type(::onnx::ValueInfoProto* info, const std::string& name, int type,
                       const std::vector<int64_t>& dims) {
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (int64_t dim : dims) {
      auto* slot = tensor->mutable_shape()->add_dim();
      if (dim >= 0)
        slot->set_dim_value(dim);
      else
        slot->set_dim_param("n");
    }
  }

  TinyModel& input(const std::string& name, int type, const std::vector<int64_t>& dims) {
    set_type(proto_.mutable_graph()->add_input(), name, type, dims);
    return *this;
  }

  // Without a type: ONNX Runtime infers it.
  TinyModel& output(const std::string& name) {
    proto_.mutable_graph()->add_output()->set_name(name);
    return *this;
  }

  ::onnx::NodeProto& node(const std::string& op, const std::string& domain, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs) {
    return add_node(*proto_.mutable_graph(), op, domain, inputs, outputs);
  }

  static ::onnx::NodeProto& add_node(::onnx::GraphProto& graph, const std::string& op, const std::string& domain,
                                     const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
    auto* node = graph.add_node();
    node->set_op_type(op);
    node->set_domain(domain);
    node->set_name(outputs.front() + "_node");
    for (const auto& name : inputs) node->add_input(name);
    for (const auto& name : outputs) node->add_output(name);
    return *node;
  }

  static void set_text(::onnx::NodeProto& node, const std::string& key, const std::string& value) {
    auto* attribute = node.add_attribute();
    attribute->set_name(key);
    attribute->set_type(::onnx::AttributeProto::STRING);
    attribute->set_s(value);
  }

  ::onnx::NodeProto& round(::onnx::GraphProto& graph, const std::string& from, const std::string& to,
                           const std::string& format, const std::string& overflow = "inf") {
    auto& made = add_node(graph, "Round", "paritas.ops", {from}, {to});
    set_text(made, "format", format);
    set_text(made, "overflow", overflow);
    return made;
  }

  ::onnx::GraphProto& graph() { return *proto_.mutable_graph(); }

  Path save(const Path& folder, const std::string& stem = "tiny") const {
    const Path path = folder / (stem + ".onnx");
    std::ofstream stream(path, std::ios::binary);
    proto_.SerializeToOstream(&stream);
    return path;
  }

 private:
  ::onnx::ModelProto proto_;
};

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  auto view = TensorView::of(tensor);
  EXPECT_TRUE(view.has_value());
  std::vector<T> values(view ? view->bytes().size() / sizeof(T) : 0);
  if (!values.empty()) __builtin_memcpy(values.data(), view->bytes().data(), values.size() * sizeof(T));
  return values;
}

// A scratch folder and a check that no child is left when the test ends.
class WorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::create(::testing::TempDir());
    ASSERT_TRUE(made.has_value()) << made.error().message();
    scratch_.emplace(std::move(*made));
    auto library = find_onnxruntime(search());
    if (!library) GTEST_SKIP() << "no ONNX Runtime: " << library.error().message();
    library_ = library->path;
  }

  void TearDown() override {
    int status = 0;
    const pid_t left = ::waitpid(-1, &status, WNOHANG);
    EXPECT_TRUE(left == -1 && errno == ECHILD) << "a child process was left: " << left;
  }

  const Path& folder() const { return scratch_->path(); }

  WorkerOptions options(const std::string& name = "worker") const {
    WorkerOptions result;
    result.executable = PARITAS_TEST_WORKER;
    result.scratch = folder() / name;
    result.onnxruntime = library_;
    return result;
  }

  std::unique_ptr<Worker> start() {
    auto worker = Worker::start(options());
    EXPECT_TRUE(worker.has_value()) << worker.error().message() << "\n" << worker.error().details;
    return worker ? std::move(*worker) : nullptr;
  }

  static Target target(const std::string& text) {
    auto spec = TargetSpec::parse(text);
    EXPECT_TRUE(spec.has_value()) << spec.error().message();
    auto resolved = resolve_target(*spec, search());
    EXPECT_TRUE(resolved.has_value()) << resolved.error().message();
    return resolved ? *resolved : Target{};
  }

  std::optional<ScratchFolder> scratch_;
  Path library_;
};

}  // namespace paritas::runtime_test
