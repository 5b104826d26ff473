// A provider plug-in that misbehaves as soon as ONNX Runtime asks it for its factories.
#include <unistd.h>
#include <cstdio>
#include <cstdlib>

extern "C" {

__attribute__((visibility("default"))) void* CreateEpFactories(const char*, const void*, const void*, void**, size_t,
                                                               size_t*) {
#if defined(PARITAS_TEST_CRASH)
  std::fputs("vendor assertion failed: firmware not found\n", stderr);
  std::abort();
#elif defined(PARITAS_TEST_HANG)
  for (;;) ::pause();
#endif
}

__attribute__((visibility("default"))) void* ReleaseEpFactory(void*) { return nullptr; }
}
