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

# A release is -O2; what benchmarks feel has -O3, what runs once -O1 (OPTIMIZE of smd_add_library).
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# g++ collects garbage once it holds 128 MB, which every second file here reaches: an eighth of the time.
target_compile_options(smd_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1048576>)

# Reading the standard library is half of what compiling a file costs. The preset `coverage` goes without:
# it finds the #include that a file forgets.
option(SMD_PRECOMPILE "Precompile the headers of the standard library that most files read" OFF)
set(SMD_COMMON_HEADERS <algorithm> <array> <bitset> <chrono> <cmath> <compare> <cstdint> <cstring> <deque> <functional>
    <limits> <map> <memory> <numeric> <optional> <set> <span> <stdexcept> <string> <string_view> <system_error> <tuple>
    <utility> <variant> <vector> <tl/expected.hpp> "${PROJECT_SOURCE_DIR}/smd/base/fmt_once.h")

# smd_precompile(NAME headers…): the common headers; with headers of its own a set of its own.
function(smd_precompile name)
  if(NOT SMD_PRECOMPILE)
    return()
  endif()
  if(NOT TARGET smd_common_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/smd_common_headers.cpp CONTENT "")
    add_library(smd_common_headers OBJECT ${PROJECT_BINARY_DIR}/smd_common_headers.cpp)
    target_link_libraries(smd_common_headers PRIVATE smd_flags fmt::fmt spdlog::spdlog)
    set_target_properties(smd_common_headers PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_precompile_headers(smd_common_headers PRIVATE ${SMD_COMMON_HEADERS})
  endif()
  if(ARGN)
    list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/")
    target_precompile_headers(${name} PRIVATE ${SMD_COMMON_HEADERS} ${ARGN})
  else()
    target_precompile_headers(${name} REUSE_FROM smd_common_headers)
  endif()
  target_link_libraries(${name} PRIVATE fmt::fmt spdlog::spdlog)  # their macros
  # What g++ 12 says of std::string in error it says aloud once the header no longer counts as the system's.
  target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
    -Wno-stringop-overread)
endfunction()

# Half of what a file costs is headers and templates that its neighbours instantiate as well. The presets `dev`
# and `coverage` go without.
option(SMD_UNITY "Compile the sources of a folder several at a time, where its CMakeLists.txt says UNITY" OFF)

# smd_unite(NAME BATCH): so many sources at a time. In their unnamed namespaces they must not use a name for two
# things; a test that does has a namespace of its file's name instead.
function(smd_unite name batch)
  if(SMD_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
    # Said of a class in a .cpp file with a member from an unnamed namespace, once that file is read by another.
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# What is -O1 spends its time on reading headers; of the rest a change must not wait for many neighbours.
function(smd_unite_by optimize name)
  if(optimize STREQUAL "1")
    smd_unite(${name} 12)
  else()
    smd_unite(${name} 6)
  endif()
endfunction()

# smd_add_library(NAME [PURE] [UNITY] [OPTIMIZE 1|2|3] SOURCES a.cpp… [DEPS targets…] [HEADERS folder/a.h…])
# PURE states that the folder has no IO, clock, logging or global state; the layer lint enforces it.
# HEADERS are costly ones that most of its sources read: they are compiled once.
function(smd_add_library name)
  cmake_parse_arguments(ARG "PURE;UNITY" "OPTIMIZE" "SOURCES;DEPS;HEADERS" ${ARGN})
  if(NOT ARG_SOURCES)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE smd_flags ${ARG_DEPS})
    return()
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC smd_flags ${ARG_DEPS})
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(${name} PRIVATE smd_test_flags_${SMD_TEST_OPTIMIZE} GTest::gmock)
    smd_precompile_gmock(${name})
    return()
  endif()
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  smd_precompile(${name} ${ARG_HEADERS})
  if(ARG_UNITY)
    smd_unite_by("${ARG_OPTIMIZE}" ${name})
  endif()
  if(ARG_OPTIMIZE)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O${ARG_OPTIMIZE}>)
  endif()
endfunction()

# smd_add_executable(NAME [UNITY] [OPTIMIZE 1|2|3] SOURCES a.cpp… DEPS targets…): ends up in <build>/bin.
function(smd_add_executable name)
  cmake_parse_arguments(ARG "UNITY" "OPTIMIZE" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE smd_flags ${ARG_DEPS})
  target_compile_options(${name} PRIVATE -fPIC)  # as the precompiled headers have it
  smd_precompile(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(ARG_UNITY)
    smd_unite_by("${ARG_OPTIMIZE}" ${name})
  endif()
  if(ARG_OPTIMIZE)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O${ARG_OPTIMIZE}>)
  endif()
endfunction()

# Tests that need nothing but this program: what a sanitizer build has to make.
add_custom_target(inner_tests)

# Tests of whatever runs on a second thread, label "threads": what a build with ThreadSanitizer has to make.
add_custom_target(thread_tests)

# What CONTRIBUTING.md asks for by name: an ordinary build leaves it out.
add_custom_target(slow_tests)
add_custom_target(benchmarks)

# Tests are compiled more often than they run: what they test is optimised, they are not, which compiles in two
# thirds of the time. A folder whose tests compute much themselves sets SMD_TEST_OPTIMIZE to 1.
set(SMD_TEST_OPTIMIZE 0)
foreach(level 0 1)
  add_library(smd_test_flags_${level} INTERFACE)
  target_compile_options(smd_test_flags_${level} INTERFACE $<$<CONFIG:Release>:-O${level}>
    -Wno-array-bounds)  # at -O1 GCC 12 sees overruns within std::string that are none
  if(SMD_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A call for each check compiles in less than half the time of the check itself.
    target_compile_options(smd_test_flags_${level} INTERFACE --param=asan-instrumentation-with-call-threshold=0)
  endif()
endforeach()

# Reading gmock is a third of what compiling a test costs. smd_precompile_gmock(NAME headers…) as smd_precompile.
function(smd_precompile_gmock name)
  set(headers <gmock/gmock.h> <gtest/gtest.h>)
  if(SMD_PRECOMPILE)
    list(APPEND headers ${SMD_COMMON_HEADERS})
  endif()
  set(shared gmock_headers_${SMD_TEST_OPTIMIZE})
  if(NOT TARGET ${shared})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/gmock_headers.cpp CONTENT "")
    add_library(${shared} OBJECT ${PROJECT_BINARY_DIR}/gmock_headers.cpp)
    target_link_libraries(${shared} PRIVATE smd_flags smd_test_flags_${SMD_TEST_OPTIMIZE} fmt::fmt spdlog::spdlog GTest::gmock)
    target_precompile_headers(${shared} PRIVATE ${headers})
  endif()
  target_link_libraries(${name} PRIVATE fmt::fmt spdlog::spdlog)  # their macros
  if(SMD_PRECOMPILE AND ARGN)
    list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/")
    target_precompile_headers(${name} PRIVATE ${headers} ${ARGN})
  else()
    target_precompile_headers(${name} REUSE_FROM ${shared})
  endif()
endfunction()

option(SMD_GATHER_TESTS "One program for the tests of a folder; OFF: one for each test, to build a single one soon" ON)

# The program that a test's sources go into, in `out`: one for a folder, apart from tests that not every build makes.
function(smd_test_program out name label threads alone)
  if(alone OR NOT SMD_GATHER_TESTS)
    set(program ${name})
    set(headers "")
  else()
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
    string(REGEX REPLACE "[/-]" "_" program ${folder})
    if(label MATCHES "^(cross|lint|slow)$" AND NOT program STREQUAL label)
      string(APPEND program _${label})
    endif()
    set(headers ${SMD_TEST_HEADERS})
    if(threads)
      string(APPEND program _threads)
      set(headers "")  # few files
    endif()
    string(APPEND program _tests)
  endif()
  if(NOT TARGET ${program})
    add_executable(${program})
    target_link_libraries(${program} PRIVATE smd_flags smd_test_flags_${SMD_TEST_OPTIMIZE} test_main test_paths GTest::gmock GTest::gtest)
    smd_precompile_gmock(${program} ${headers})
    smd_unite(${program} 8)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  endif()
  set(${out} ${program} PARENT_SCOPE)
endfunction()

# Seconds; for what hangs, not for what is slow beside other work.
set(SMD_TEST_TIMEOUT 1800)
set(SMD_SLOW_TEST_TIMEOUT 10800)

# smd_add_test(NAME LABEL unit|property|golden|sim|cross|lint|slow [THREADS] [ALONE] SOURCES a.cpp… DEPS targets…)
# The tests of a folder share a program, which runs those of the named sources (tests/support/test_main.cpp);
# NAME builds it. ALONE: a program of its own, called NAME, since it needs other flags or a suite's name is taken.
# SMD_TEST_HEADERS, set in a folder: costly headers that most of its tests read.
function(smd_add_test name)
  cmake_parse_arguments(ARG "THREADS;ALONE" "LABEL" "SOURCES;DEPS" ${ARGN})
  smd_test_program(program ${name} ${ARG_LABEL} ${ARG_THREADS} ${ARG_ALONE})
  get_target_property(present ${program} SOURCES)
  if(present)
    set(fresh ${ARG_SOURCES})
    list(REMOVE_ITEM fresh ${present})
  else()
    set(fresh ${ARG_SOURCES})
  endif()
  target_sources(${program} PRIVATE ${fresh})
  target_link_libraries(${program} PRIVATE ${ARG_DEPS})
  if(ARG_LABEL STREQUAL slow)
    set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(slow_tests ${program})
  endif()
  if(program STREQUAL name)
    add_test(NAME ${name} COMMAND ${program})
  else()
    add_custom_target(${name} DEPENDS ${program})
    list(JOIN ARG_SOURCES "," sources)
    add_test(NAME ${name} COMMAND ${program} --sources=${sources})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${SMD_TEST_TIMEOUT})
  if(ARG_LABEL STREQUAL slow)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${SMD_SLOW_TEST_TIMEOUT})
  endif()
  if(ARG_LABEL MATCHES "cross")
    # Other people's timeouts are short: one of them at a time, and beside it what needs a core at the most. Most of
    # them wait: begun last, they would leave the cores idle at the end.
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK cross COST 100)
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
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE smd_flags smd_test_flags_${SMD_TEST_OPTIMIZE} replay_main ${ARG_DEPS} GTest::gmock)
    smd_precompile_gmock(${name})
    add_test(NAME ${name} COMMAND ${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
    set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT ${SMD_TEST_TIMEOUT})
    add_dependencies(inner_tests ${name})
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()
