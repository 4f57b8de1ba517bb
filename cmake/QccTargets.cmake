# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One spelling for every library and unit test of the project.

# qcc_add_library(NAME source... [DEPS target...]): a static library.
function(qcc_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
endfunction()

# qcc_add_test(NAME source... [DEPS target...]): a GoogleTest program of that name. Its tests find the project's
# sources and their own data under the macro QCC_SOURCE_DIR.
function(qcc_add_test name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE QCC_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
