# What `cpack` makes: Debian packages. `sact` and `libsact0` need no LibTorch; `sact-torch` adds it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sact)
set(CPACK_PACKAGE_CONTACT
  "sact maintainers <maintainers@users.noreply.a-seed-c7893b62.example>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/SactPackagesFinish.cmake)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/SactPackagesCheck.cmake)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# sact_package(COMPONENT PACKAGE SECTION DESCRIPTION [DEPENDS])
macro(sact_package component package section description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${about}\n${description}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${ARGN}")
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  install(FILES cmake/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
    COMPONENT ${component})
endmacro()

set(same_version "(= ${PROJECT_VERSION})")
set(library_package)
if(BUILD_SHARED_LIBS)
  set(library_package "libsact0 ${same_version}")
endif()
set(about "Networks that decide, position by position, how many layers each part of
an image needs (Figurnov et al., CVPR 2017).")
sact_package(sact sact science
  "This package has the program, its manual, and a small trained network.")
sact_package(development libsact-dev libdevel
  "This package is for writing programs in C++ with the library." ${library_package})
if(BUILD_SHARED_LIBS)
  sact_package(library libsact0 libs "This package has the library, which needs no LibTorch.")
endif()
if(SACT_TRAIN)
  sact_package(torch sact-torch science
    "This package adds training and the LibTorch back end." "sact ${same_version}")
endif()
include(CPack)
