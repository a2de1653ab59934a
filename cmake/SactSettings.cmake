# Compiler settings for every target of this project, and how a layer and its tests are declared.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

# How a whole build is done is for the parent project to say, where there is one.
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(SACT_CCACHE ccache)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
  endif()
endif()
if(SACT_CCACHE)
  # The sloppiness lets ccache work with precompiled headers; 'depend' spares it the preprocessor.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${SACT_CCACHE})
endif()

include(SactHardening)
add_library(sact_settings INTERFACE)
target_link_libraries(sact_settings INTERFACE sact_hardening)
target_compile_options(sact_settings INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns about its own std::string (GCC bug 105651).
  target_compile_options(sact_settings INTERFACE -Wno-restrict)
endif()
target_include_directories(sact_settings INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
if(SACT_SANITIZE)
  target_compile_options(sact_settings INTERFACE
    -fsanitize=${SACT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  target_link_options(sact_settings INTERFACE -fsanitize=${SACT_SANITIZE})
endif()
if(SACT_FUZZ)
  target_compile_options(sact_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# sact_layer(NAME SOURCES a.cpp ... DEPENDS sact_base fmt::fmt ...)
function(sact_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(sact_${name} STATIC ${LAYER_SOURCES})
  target_link_libraries(sact_${name} PUBLIC sact_settings ${LAYER_DEPENDS})
endfunction()

# sact_component(NAME SOURCES a.cpp ...): a library that the program opens when it is wanted, src/base/component.h.
function(sact_component name)
  cmake_parse_arguments(COMPONENT "" "" "SOURCES" ${ARGN})
  add_library(${name} MODULE ${COMPONENT_SOURCES} $<TARGET_OBJECTS:sact_component_mark>)
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()

# sact_precompile(TARGET PRIVATE <a.h> ... | REUSE_FROM OTHER): precompiled headers that ccache knows.
function(sact_precompile target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
  target_precompile_headers(${target} ${ARGN})
endfunction()

# sact_optimize_little(TARGET): for code that compiles slowly and runs briefly.
function(sact_optimize_little target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# sact_test(NAME SOURCES a_test.cpp ... DEPENDS sact_io ...): one program with GoogleTest.
function(sact_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name}_test ${TEST_SOURCES})
  target_link_libraries(${name}_test PRIVATE sact_test_programs ${TEST_DEPENDS} GTest::gtest_main)
  sact_optimize_little(${name}_test)
  if("sact_train" IN_LIST TEST_DEPENDS)
    sact_use_libtorch_header(${name}_test)
  else()
    sact_precompile(${name}_test REUSE_FROM sact_test_programs)
  endif()
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES TIMEOUT 3600)  # for slow and busy machines
endfunction()
