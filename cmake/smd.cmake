# Build vocabulary of the project: one function per kind of target.

set(SMD_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor)

# Suppressions, each with its reason:
#  -Wno-missing-field-initializers: designated initialisers leave the rest at their defaults on purpose.
list(APPEND SMD_WARNINGS -Wno-missing-field-initializers)
#  -Wno-restrict: g++ 12 reports overlapping copies inside std::string that cannot happen (GCC PR 105651).
list(APPEND SMD_WARNINGS -Wno-restrict)

option(SMD_WERROR "Treat warnings as errors" OFF)
set(SMD_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
option(SMD_SANITIZE_ALL "With undefined: also the checks that double the time to compile" OFF)
option(SMD_COVERAGE "Instrument for gcov" OFF)
option(SMD_FUZZ "Build libFuzzer targets (clang)" OFF)

add_library(smd_flags INTERFACE)
target_compile_features(smd_flags INTERFACE cxx_std_20)
target_compile_options(smd_flags INTERFACE ${SMD_WARNINGS})
target_include_directories(smd_flags INTERFACE ${PROJECT_SOURCE_DIR})
if(SMD_WERROR)
  target_compile_options(smd_flags INTERFACE -Werror)
endif()
if(SMD_SANITIZE)
  target_compile_options(smd_flags INTERFACE -fsanitize=${SMD_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
  target_link_options(smd_flags INTERFACE -fsanitize=${SMD_SANITIZE})
endif()
if(SMD_SANITIZE MATCHES "undefined" AND NOT SMD_SANITIZE_ALL)
  # A null pointer stops the address sanitizer as well; nothing here casts bytes to objects or down.
  target_compile_options(smd_flags INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
endif()
if(SMD_SANITIZE)
  # g++ 12 loses track of initialisation in instrumented library code (std::regex, std::variant).
  target_compile_options(smd_flags INTERFACE -Wno-maybe-uninitialized)
endif()
if(SMD_SANITIZE MATCHES "thread")
  # Boost.Asio has fences, which TSan does not model; g++ warns at each.
  target_compile_options(smd_flags INTERFACE -Wno-tsan)
endif()
if(SMD_COVERAGE)
  target_compile_options(smd_flags INTERFACE --coverage)
  target_link_options(smd_flags INTERFACE --coverage)
endif()
if(SMD_FUZZ)
  target_compile_options(smd_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Reading the standard library is half of what compiling a file costs. Builds for work on the code go without
# (SMD_PRECOMPILE=OFF, as the presets but `release` have it): they find the #include that a file forgets.
option(SMD_PRECOMPILE "Precompile the headers of the standard library that most files read" OFF)
set(SMD_COMMON_HEADERS <algorithm> <array> <bitset> <chrono> <compare> <cstdint> <functional> <map> <memory> <optional>
    <set> <span> <string> <string_view> <tuple> <utility> <vector> <tl/expected.hpp>)

function(smd_precompile_common name)
  # Only what is compiled with the same macros can share: libraries of tests are not.
  if(NOT SMD_PRECOMPILE OR CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/tests")
    return()
  endif()
  if(NOT TARGET smd_common_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/smd_common_headers.cpp CONTENT "")
    add_library(smd_common_headers OBJECT ${PROJECT_BINARY_DIR}/smd_common_headers.cpp)
    target_link_libraries(smd_common_headers PRIVATE smd_flags fmt::fmt spdlog::spdlog)
    set_target_properties(smd_common_headers PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_precompile_headers(smd_common_headers PRIVATE ${SMD_COMMON_HEADERS} <fmt/core.h>)
  endif()
  target_precompile_headers(${name} REUSE_FROM smd_common_headers)
  # What g++ 12 says of std::string in error it says aloud once the header no longer counts as the system's.
  target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
    -Wno-stringop-overread)
endfunction()

# smd_add_library(NAME [PURE] SOURCES a.cpp… [DEPS targets…])
# PURE states that the folder has no IO, clock, logging or global state; the layer lint enforces it.
function(smd_add_library name)
  cmake_parse_arguments(ARG "PURE" "" "SOURCES;DEPS" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC smd_flags ${ARG_DEPS})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    smd_precompile_common(${name})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE smd_flags ${ARG_DEPS})
  endif()
endfunction()

# smd_add_executable(NAME SOURCES a.cpp… DEPS targets…): ends up in <build>/bin.
function(smd_add_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE smd_flags ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# Tests that need nothing but this program: what a sanitizer build has to make.
add_custom_target(inner_tests)

# Tests of whatever runs on a second thread, label "threads": what a build with ThreadSanitizer has to make.
add_custom_target(thread_tests)

# Tests are compiled more often than they run: what they test has all the optimisation, they have little.
add_library(smd_test_flags INTERFACE)
target_compile_options(smd_test_flags INTERFACE $<$<CONFIG:Release>:-O1>
  -Wno-array-bounds)  # at -O1 GCC 12 sees overruns within std::string that are none
if(SMD_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A call for each check compiles in less than half the time of the check itself.
  target_compile_options(smd_test_flags INTERFACE --param=asan-instrumentation-with-call-threshold=0)
endif()

# Reading gmock is a third of what compiling a test costs.
function(smd_precompile_gmock name)
  if(NOT TARGET gmock_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/gmock_headers.cpp CONTENT "")
    add_library(gmock_headers OBJECT ${PROJECT_BINARY_DIR}/gmock_headers.cpp)
    target_link_libraries(gmock_headers PRIVATE smd_flags smd_test_flags GTest::gmock)
    target_precompile_headers(gmock_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
    if(SMD_PRECOMPILE)
      target_precompile_headers(gmock_headers PRIVATE ${SMD_COMMON_HEADERS})
    endif()
  endif()
  target_precompile_headers(${name} REUSE_FROM gmock_headers)
endfunction()

# smd_add_test(NAME LABEL unit|property|golden|sim|cross|lint|slow [THREADS] SOURCES a.cpp… DEPS targets… [TIMEOUT s])
function(smd_add_test name)
  cmake_parse_arguments(ARG "THREADS" "LABEL;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE smd_flags smd_test_flags ${ARG_DEPS} test_paths GTest::gmock GTest::gtest_main)
  smd_precompile_gmock(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  if(ARG_LABEL MATCHES "cross")
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)  # other people's timeouts are short
  endif()
  if(NOT ARG_LABEL MATCHES "cross|lint|slow")
    add_dependencies(inner_tests ${name})
  endif()
  if(ARG_THREADS)
    set_property(TEST ${name} APPEND PROPERTY LABELS threads)
    add_dependencies(thread_tests ${name})
  endif()
endfunction()

# smd_add_fuzzer(NAME SOURCES a.cpp… DEPS targets…): with SMD_FUZZ a libFuzzer binary; always a corpus-replay test.
function(smd_add_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  if(SMD_FUZZ)
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE smd_flags ${ARG_DEPS})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(${name} ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp)
    target_link_libraries(${name} PRIVATE smd_flags ${ARG_DEPS})
    add_test(NAME ${name} COMMAND ${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
    set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 60)
    add_dependencies(inner_tests ${name})
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()
