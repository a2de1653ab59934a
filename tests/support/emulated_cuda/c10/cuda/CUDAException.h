// For LibTorch without CUDA: emulated kernels end the program where something is wrong.
#pragma once

#define C10_CUDA_KERNEL_LAUNCH_CHECK() static_cast<void>(0)
