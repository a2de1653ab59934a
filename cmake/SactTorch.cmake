# Finds LibTorch, or says what to do.
find_package(Torch QUIET)
if(NOT Torch_FOUND)
  message(FATAL_ERROR "LibTorch was not found. Install libtorch-dev, set CMAKE_PREFIX_PATH to a "
                      "LibTorch of your own, or configure with -DSACT_TRAIN=OFF.")
endif()
message(STATUS "LibTorch ${Torch_VERSION}")
# Off, because a path of the machine that built it may be somebody else's to write to on another.
option(SACT_TORCH_RPATH "Let the installed libsact_torch.so remember where LibTorch was, beside where the system looks" OFF)

# The CUDA kernels are built where LibTorch has CUDA and there is a compiler for it.
set(cuda_default OFF)
if(TARGET torch_cuda)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(cuda_default ON)
  endif()
endif()
option(SACT_CUDA "Build the CUDA kernels (needs a LibTorch with CUDA and nvcc)" ${cuda_default})
if(SACT_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
endif()
