# What the Python module needs, or a message that says what is missing. Sets SACT_PYTHON_FOUND.
set(SACT_PYTHON_FOUND OFF)
# Debian's own Python first: it has Debian's NumPy, whatever else stands earlier in the PATH.
find_program(SACT_PYTHON_INTERPRETER python3 HINTS /usr/bin DOC "The Python that the module is for")
set(PYBIND11_NOPYTHON ON)
find_package(pybind11 QUIET CONFIG)
if(NOT pybind11_FOUND)
  message(STATUS "The Python module is not built: pybind11 was not found. Install pybind11-dev.")
  return()
endif()
set(Python_EXECUTABLE ${SACT_PYTHON_INTERPRETER})
find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
if(NOT Python_FOUND)
  message(STATUS "The Python module is not built: the headers of ${SACT_PYTHON_INTERPRETER} were not found. "
                 "Install python3-dev.")
  return()
endif()
message(STATUS "Python ${Python_VERSION}: ${Python_EXECUTABLE}")
set(SACT_PYTHON_FOUND ON)
