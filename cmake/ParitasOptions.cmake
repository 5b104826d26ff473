# Compiler settings that every target shares.
add_library(paritas_options INTERFACE)
target_include_directories(paritas_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(paritas_options INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers
  # g++ 12 sees overlapping copies in std::string's own operator+ (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # Results must be the same bits on every CPU: the compiler may not fuse a multiply and an add.
  -ffp-contract=off)
if(PARITAS_WERROR)
  target_compile_options(paritas_options INTERFACE -Werror)
endif()
