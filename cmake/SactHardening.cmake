# What makes a mistake in memory end a program at once, instead of running on with what an attacker wrote.
# Every program and library of this project has it; tests/api/install_test.cpp reads what is installed.
add_library(sact_hardening INTERFACE)

# Not in CUDA's sources, whose code for the host only launches kernels.
set(flags -fstack-protector-strong)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
  list(APPEND flags -fcf-protection)
endif()
target_compile_options(sact_hardening INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${flags}>")
# Checked calls need an optimizer, and are in the way of sanitizers, which check more.
if(NOT SACT_SANITIZE)
  target_compile_options(sact_hardening INTERFACE
    "$<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()
# All symbols are found at the start, and their table can then not be written any more.
target_link_options(sact_hardening INTERFACE LINKER:-z,relro,-z,now,-z,noexecstack)
