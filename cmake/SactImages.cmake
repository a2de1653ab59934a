# The libraries that read and write images, or which package is missing.
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(PkgConfig REQUIRED)

# sact_image_library(TARGET MODULE PACKAGE): PkgConfig::TARGET for a module of pkg-config.
function(sact_image_library target module package)
  pkg_check_modules(${target} QUIET IMPORTED_TARGET GLOBAL ${module})
  if(NOT ${target}_FOUND)
    message(FATAL_ERROR "${module}, which images need, was not found. Install ${package}.")
  endif()
endfunction()

sact_image_library(GIF libgif libgif-dev)
sact_image_library(ISAL libisal libisal-dev)
sact_image_library(TIFF libtiff-4>=4.5 libtiff-dev)
sact_image_library(WEBP libwebpdemux libwebp-dev)
