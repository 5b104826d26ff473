// Loads a package and runs it, as an application would: ONNX Runtime's C++ API, a JSON reader and the manifest, nothing
// of paritas. Hold the files against their sums first: (cd PACKAGE && sha256sum --check --strict --quiet SHA256SUMS)
//   load_package LIBONNXRUNTIME.so PACKAGE INPUTS.safetensors [PROVIDER.so]
#include <dlfcn.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#define ORT_API_MANUAL_INIT  // the library is opened by path; an application that links it needs neither line
#include <onnxruntime_cxx_api.h>

namespace fs = std::filesystem;
using nlohmann::json;
using Tensors = std::map<std::string, Ort::Value>;  // by the package's names

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot be read: " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

// Views into `data`: 8 bytes with the length of a JSON header, the header, the values.
Tensors inputs_of(std::string& data, const json& manifest, const Ort::MemoryInfo& cpu) {
  const std::map<std::string, ONNXTensorElementDataType> types = {{"F32", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
                                                                  {"I64", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
                                                                  {"I32", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
                                                                  {"U8", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8}};
  uint64_t length = 0;
  data.copy(reinterpret_cast<char*>(&length), sizeof length);
  if (data.size() < 8 || length > data.size() - 8) throw std::runtime_error("the inputs are no safetensors file");
  const json header = json::parse(data.substr(8, length));
  Tensors tensors;
  for (const json& port : manifest.at("inputs")) {
    const json& entry = header.at(port.at("name").get<std::string>());
    const uint64_t begin = entry.at("data_offsets").at(0), end = entry.at("data_offsets").at(1);
    if (begin > end || end > data.size() - 8 - length) throw std::runtime_error("a tensor lies outside of its file");
    const std::vector<int64_t> shape = entry.at("shape");  // CreateTensor holds it against the bytes
    tensors.emplace(port.at("name"), Ort::Value::CreateTensor(cpu, data.data() + 8 + length + begin, end - begin,
                                                              shape.data(), shape.size(), types.at(entry.at("dtype"))));
  }
  return tensors;
}

Ort::ConstEpDevice device_of(const Ort::Env& env, const std::string& provider) {
  for (const auto& device : env.GetEpDevices())
    if (device.EpName() == provider) return device;
  return Ort::ConstEpDevice{nullptr};
}

Ort::Session open_part(Ort::Env& env, const fs::path& package, const json& part, const fs::path& library) {
  const std::string provider = part.at("provider");
  const std::map<std::string, GraphOptimizationLevel> levels = {{"none", ORT_DISABLE_ALL},
                                                                {"basic", ORT_ENABLE_BASIC},
                                                                {"extended", ORT_ENABLE_EXTENDED},
                                                                {"all", ORT_ENABLE_ALL}};
  Ort::SessionOptions options;
  options.SetGraphOptimizationLevel(levels.at(part.at("optimisation")));
  options.SetIntraOpNumThreads(part.at("threads"));
  std::unordered_map<std::string, std::string> entries;  // of the provider
  for (const auto& [key, value] : part.at("options").get<std::map<std::string, std::string>>()) {
    if (key.rfind("session.", 0) == 0 || key.rfind("ep.", 0) == 0)
      options.AddConfigEntry(key.c_str(), value.c_str());
    else  // the manifest has file names only: libraries lie beside the provider's
      entries[key] = key == "backend_path" ? (library.parent_path() / fs::path(value).filename()).string() : value;
  }
  if (part.at("on_device"))
    options.AddConfigEntry("session.disable_cpu_ep_fallback", "1");  // on the device or not at all
  if (provider == "CPUExecutionProvider" && part.at("on_device"))
    throw std::runtime_error(part.at("target").get<std::string>() + " is a simulator, which paritas alone runs");
  if (provider != "CPUExecutionProvider") {
    if (library.empty()) throw std::runtime_error("give the library of " + provider);
    auto device = device_of(env, provider);
    if (!device) {  // a plug-in: registered once, chosen by its device
      env.RegisterExecutionProviderLibrary(provider.c_str(), library.string());
      device = device_of(env, provider);
    }
    if (!device) throw std::runtime_error(provider + " finds no device here");
    options.AppendExecutionProvider_V2(env, {device}, entries);
  }
  const fs::path file = part.at("file").get<std::string>();
  if (file != file.filename()) throw std::runtime_error("a part lies outside of the package");
  return {env, (package / file).c_str(), options};
}

int main(int argc, char** argv) try {
  if (argc < 4)
    throw std::runtime_error("usage: load_package LIBONNXRUNTIME.so PACKAGE INPUTS.safetensors [PROVIDER.so]");
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) throw std::runtime_error(dlerror());
  Ort::InitApi(reinterpret_cast<decltype(&OrtGetApiBase)>(dlsym(library, "OrtGetApiBase"))()->GetApi(ORT_API_VERSION));
  const fs::path package = argv[2];
  const json manifest = json::parse(read(package / "manifest.json"));
  const auto cpu = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  std::string data = read(argv[3]);
  Tensors tensors = inputs_of(data, manifest, cpu);
  Ort::Env env(ORT_LOGGING_LEVEL_ERROR, "load_package");
  std::vector<Ort::Session> sessions;
  for (const json& part : manifest.at("parts"))
    sessions.push_back(open_part(env, package, part, argc > 4 ? argv[4] : ""));
  for (size_t i = 0; i < sessions.size(); ++i) {  // names tie outputs to inputs, never their order
    const json& part = manifest.at("parts").at(i);
    Ort::IoBinding binding(sessions[i]);
    for (const json& port : part.at("inputs"))
      binding.BindInput(port.at("name").get<std::string>().c_str(), tensors.at(port.at("tensor")));
    for (const json& port : part.at("outputs")) binding.BindOutput(port.at("name").get<std::string>().c_str(), cpu);
    sessions[i].Run(Ort::RunOptions{}, binding);
    std::vector<Ort::Value> made = binding.GetOutputValues();  // as they were bound; they stay in memory
    for (size_t j = 0; j < made.size(); ++j) tensors.emplace(part.at("outputs").at(j).at("tensor"), std::move(made[j]));
  }
  for (const json& port : manifest.at("outputs")) {
    if (port.value("role", "") != "scores") continue;
    const Ort::Value& scores = tensors.at(port.at("name"));
    const float* values = scores.GetTensorData<float>();
    const size_t count = scores.GetTensorTypeAndShapeInfo().GetElementCount();
    std::cout << std::fixed << port.at("name").get<std::string>() << ": highest "
              << *std::max_element(values, values + count) << "\n";
  }
} catch (const std::exception& error) {
  std::cerr << "load_package: " << error.what() << "\n";
  return 1;
}
