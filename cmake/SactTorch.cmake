# Finds LibTorch, or says what to do.
find_package(Torch QUIET)
if(NOT Torch_FOUND)
  message(FATAL_ERROR "LibTorch was not found. Install libtorch-dev, set CMAKE_PREFIX_PATH to a "
                      "LibTorch of your own, or configure with -DSACT_TRAIN=OFF.")
endif()
message(STATUS "LibTorch ${Torch_VERSION}")
