# Cairo and Pango, which draw pictures, or which package is missing.
pkg_check_modules(PANGO QUIET IMPORTED_TARGET pangocairo fontconfig)
if(NOT PANGO_FOUND)
  message(FATAL_ERROR "Cairo, Pango and fontconfig, which draw pictures, were not found. Install libpango1.0-dev, "
                      "or configure with -DSACT_PICTURES=OFF.")
endif()
