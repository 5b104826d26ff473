// For tests: a small package whose files are text, and its manifest.
#pragma once

#include "paritas/base/sha256.h"
#include "paritas/base/test_files.h"
#include "paritas/package/package.h"

namespace paritas::package_test {

inline PackagePart part(const Path& folder, const std::string& name, const std::string& file, std::string input,
                        std::string output) {
  PackagePart part;
  part.name = name;
  part.file = file;
  part.sha256 = *sha256_of_file(folder / file);
  part.target = "cpu,opt=all";
  part.provider = "CPUExecutionProvider";
  part.optimisation = "all";
  part.inputs.push_back({input, input, DType::kF32, {1, input == "x" ? 4 : 2}});
  part.outputs.push_back({output, output, DType::kF32, {1, 2}});
  part.placement.requested = part.provider;
  part.placement.nodes.emplace_back(part.provider, 3);
  part.placement.evidence = {"session assignment"};
  return part;
}

// encoder (x -> feature_0) and decoder (feature_0 -> y), a reference and gates. Not sealed.
inline Manifest write_package(const Path& folder) {
  auto write = [&](const std::string& name, const std::string& content) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << content;
  };
  write("encoder_ctx.onnx", "the context of the encoder");
  write("decoder.onnx", "the decoder with its constants");
  write("evidence/encoder_op_trace.json", "{}");
  write("reference/run.json", "{}");
  write("reference/sample-000000.safetensors", "values");
  write("gates.json", "{}");
  Manifest manifest;
  manifest.tool_version = "0.1.0";
  manifest.created = "2026-11-30T00:00:00Z";
  manifest.command = {"paritas", "split", "model.onnx"};
  manifest.source_name = "model.onnx";
  manifest.source_sha256 = std::string(64, 'a');
  manifest.opsets = {{"ai.onnx", 17}};
  manifest.inputs.push_back({"x", DType::kF32, {1, 4}, "", "four numbers", {}});
  manifest.outputs.push_back({"y", DType::kF32, {1, 2}, "scores", "", {}});
  BoundaryTensor boundary;
  boundary.name = "feature_0";
  boundary.source = "/enc/Relu_output_0";
  boundary.shape = {1, 2};
  boundary.elements = 2;
  boundary.bytes = 8;
  boundary.op = "Relu";
  boundary.made_from = {"Conv"};
  manifest.cuts.push_back({"encoder", {boundary}});
  manifest.parts.push_back(part(folder, "encoder", "encoder_ctx.onnx", "x", "feature_0"));
  manifest.parts.push_back(part(folder, "decoder", "decoder.onnx", "feature_0", "y"));
  manifest.parts.front().compiled = manifest.parts.front().on_device = true;
  manifest.parts.front().context = ContextFacts{"QNN", "encoder", "2.50", true};
  manifest.parts.front().trace = CompileTrace{"evidence/encoder_op_trace.json", manifest.parts.front().sha256, 12};
  manifest.reference = {"reference", "cpu", 1};
  manifest.chain_gates = {"gates.json", *sha256_of_file(folder / "gates.json")};
  manifest.environment.host = "Linux";
  manifest.environment.libraries.push_back({"libonnxruntime.so", "1.32.0", std::string(64, 'b')});
  manifest.environment.device = {{"soc_model", "77"}};
  manifest.tried.push_back({"2026-11-29T00:00:00Z", "pin", "Softmax=CPU", "deviates", "did not repair"});
  manifest.notes = {"a note"};
  return manifest;
}

}  // namespace paritas::package_test
