# Read by cpack at its start: without dpkg-shlibdeps it would make packages that depend on nothing.
find_program(SHLIBDEPS dpkg-shlibdeps)
if(NOT SHLIBDEPS)
  message(FATAL_ERROR "dpkg-shlibdeps was not found. Install dpkg-dev.")
endif()
