// A provider plug-in that registers, offers a device and then claims no node: whoever trusts the provider list would
// compare the CPU with itself.
#include <cstring>

#include <onnxruntime_c_api.h>

namespace {

const OrtApi* api = nullptr;
const OrtEpApi* ep_api = nullptr;

// The oldest ONNX Runtime that paritas takes: later members of the tables are not read.
constexpr uint32_t kVersion = 24;

struct IdleProvider : OrtEp {
  IdleProvider() : OrtEp{} {
    ort_version_supported = kVersion;
    GetName = [](const OrtEp*) noexcept { return "IdleExecutionProvider"; };
    GetCapability = [](OrtEp*, const OrtGraph*, OrtEpGraphSupportInfo*) noexcept -> OrtStatus* { return nullptr; };
    Compile = [](OrtEp*, const OrtGraph**, const OrtNode**, size_t, OrtNodeComputeInfo**, OrtNode**) noexcept {
      return api->CreateStatus(ORT_NOT_IMPLEMENTED, "nothing was claimed, so nothing can be compiled");
    };
    ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo**, size_t) noexcept {};
  }
};

struct IdleFactory : OrtEpFactory {
  IdleFactory() : OrtEpFactory{} {
    ort_version_supported = kVersion;
    GetName = [](const OrtEpFactory*) noexcept { return "IdleExecutionProvider"; };
    GetVendor = [](const OrtEpFactory*) noexcept { return "nobody"; };
    GetVendorId = [](const OrtEpFactory*) noexcept { return uint32_t{0}; };
    GetVersion = [](const OrtEpFactory*) noexcept { return "0.1.0"; };
    IsStreamAware = [](const OrtEpFactory*) noexcept { return false; };
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** transfer) noexcept -> OrtStatus* {
      *transfer = nullptr;
      return nullptr;
    };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* devices, size_t count,
                             OrtEpDevice** offered, size_t room, size_t* made) noexcept -> OrtStatus* {
      *made = 0;
      for (size_t i = 0; i < count && *made < room; ++i) {
        if (api->HardwareDevice_Type(devices[i]) != OrtHardwareDeviceType_CPU) continue;
        if (OrtStatus* status = ep_api->CreateEpDevice(self, devices[i], nullptr, nullptr, &offered[*made]))
          return status;
        ++*made;
      }
      return nullptr;
    };
    CreateEp = [](OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                  const OrtSessionOptions*, const OrtLogger*, OrtEp** ep) noexcept -> OrtStatus* {
      *ep = new IdleProvider();
      return nullptr;
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) noexcept { delete static_cast<IdleProvider*>(ep); };
  }
};

}  // namespace

extern "C" {

__attribute__((visibility("default"))) OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base,
                                                                    const OrtLogger*, OrtEpFactory** factories,
                                                                    size_t room, size_t* made) {
  api = base->GetApi(kVersion);
  ep_api = api->GetEpApi();
  if (room < 1) return api->CreateStatus(ORT_INVALID_ARGUMENT, "no room for a factory");
  factories[0] = new IdleFactory();
  *made = 1;
  return nullptr;
}

__attribute__((visibility("default"))) OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<IdleFactory*>(factory);
  return nullptr;
}
}
