#include "paritas/recording/input_roles.h"

#include <gtest/gtest.h>

#include "paritas/base/test_files.h"
#include "paritas/recording/recording.h"
#include "paritas/tensor/npy.h"

namespace paritas {
namespace {

TEST(WithInputs, ChangesTheRoleOfNamedTensorsAlone) {
  const TestFolder folder;
  const Path path = folder.write("a.npy", std::string("\x93NUMPY\x01\x00\x3a\x00", 10) +
                                              "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }\n");
  const auto opened = [&] { return open_samples(path, {}).value(); };
  EXPECT_EQ(opened()->info().find("data")->role, Role::kOutput);
  EXPECT_EQ(with_inputs(opened(), {"data"})->info().find("data")->role, Role::kInput);
  EXPECT_EQ(with_inputs(opened(), {"other"})->info().find("data")->role, Role::kOutput);
  EXPECT_EQ(with_inputs(opened(), {"data"})->sample(0)->tensors.size(), 1u);
}

}  // namespace
}  // namespace paritas
