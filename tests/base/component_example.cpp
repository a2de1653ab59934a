// A component for component_test.cpp.
extern "C" __attribute__((visibility("default"))) int component_example() {
  return 42;
}
