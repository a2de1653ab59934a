// A component that needs what nobody has, for component_test.cpp.
extern "C" int nobody_has_this();

extern "C" __attribute__((visibility("default"))) int component_example() {
  return nobody_has_this();
}
