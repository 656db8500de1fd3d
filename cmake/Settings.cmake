# Language level, warnings, sanitizers and compiler cache for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()

# Compares by content on both compilers. -Wmissing-field-initializers would
# forbid designated initialisers with defaults, which the option structs rely on.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wconversion
                    -Wno-missing-field-initializers -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # __int128 is an extension to ISO C++ that both compilers have; gcc 12 raises
  # false alarms of these kinds inside inlined std::string and std::variant.
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow
                      -Wno-array-bounds -Wno-dangling-pointer)
endif()

set(SPINDRIFT_SANITIZE "" CACHE STRING "sanitizers, as for -fsanitize=")
if(SPINDRIFT_SANITIZE)
  add_compile_options(-fsanitize=${SPINDRIFT_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${SPINDRIFT_SANITIZE})
  if(SPINDRIFT_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=all)
  endif()
endif()
option(SPINDRIFT_FUZZ "build the libFuzzer targets (clang only)" OFF)
if(SPINDRIFT_FUZZ)
  # Coverage everywhere, so that the fuzzers see into the libraries.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
