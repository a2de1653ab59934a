# What `cmake --install` puts where: program, library, headers, and how others find them.
# Every component becomes a package of its own: SactPackages.cmake.
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME sact)
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/sact)
if(SACT_CLI)
  install(TARGETS sact-cli)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/docs/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${PROJECT_BINARY_DIR}/docs/sact.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sact)
  install(FILES ${PROJECT_BINARY_DIR}/docs/_sact
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
# Where the program looks for them, whatever this system calls its library directory.
if(SACT_TRAIN)
  install(TARGETS sact_torch LIBRARY DESTINATION lib/sact COMPONENT torch)
endif()
if(SACT_CUDA_ENGINE)
  install(TARGETS sact_cuda LIBRARY DESTINATION lib/sact COMPONENT cuda)
endif()
if(TARGET sact_http)
  install(TARGETS sact_http LIBRARY DESTINATION lib/sact)
endif()
if(SACT_MAT)
  install(TARGETS sact_mat_reader RUNTIME DESTINATION lib/sact)
endif()
if(SACT_PYTHON_FOUND)
  # Where Debian's Python looks below /usr.
  set(SACT_PYTHON_DIRECTORY lib/python3/dist-packages CACHE STRING "Where the Python module is installed")
  file(RELATIVE_PATH up /prefix/${SACT_PYTHON_DIRECTORY}/sact /prefix/${CMAKE_INSTALL_LIBDIR})
  set_target_properties(sact_python PROPERTIES INSTALL_RPATH "$ORIGIN/${up}")
  install(TARGETS sact_python LIBRARY DESTINATION ${SACT_PYTHON_DIRECTORY}/sact COMPONENT python)
  install(DIRECTORY python/sact DESTINATION ${SACT_PYTHON_DIRECTORY} COMPONENT python
    PATTERN __pycache__ EXCLUDE)
endif()
install(TARGETS sact EXPORT sact
  LIBRARY COMPONENT library NAMELINK_COMPONENT development ARCHIVE COMPONENT development)
install(DIRECTORY include/sact DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(DIRECTORY examples/c examples/classify DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libsact-dev/examples
  COMPONENT development)
# With the folders that its pages lead to.
install(FILES CONTRIBUTING.md README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sact)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sact)
install(DIRECTORY bench DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sact
  PATTERN node_modules EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES models/README.md models/LICENSE.resnet50 DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sact/models)
install(FILES models/imagenette-sact.safetensors models/resnet50-coco.safetensors models/resnet50-imagenet.safetensors
  DESTINATION ${CMAKE_INSTALL_DATADIR}/sact)

install(EXPORT sact NAMESPACE sact:: FILE sactTargets.cmake DESTINATION ${package_directory}
  COMPONENT development)
configure_package_config_file(cmake/sactConfig.cmake.in sactConfig.cmake
  INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(sactConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sactConfig.cmake ${PROJECT_BINARY_DIR}/sactConfigVersion.cmake
  DESTINATION ${package_directory} COMPONENT development)

# A shared library brings what it needs along; with a static one the user's linker must know.
set(package_requires)
set(package_libraries)
if(NOT BUILD_SHARED_LIBS)
  set(package_requires "fmt libjpeg libpng libgif libisal libtiff-4 libwebpdemux libhwy")
  set(package_libraries "-pthread")
endif()
# Relative, so that an installation can be moved.
file(RELATIVE_PATH package_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/sact.pc.in sact.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sact.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)
if(PROJECT_IS_TOP_LEVEL)
  include(SactPackages)
endif()
