// The five most probable classes of a picture, and how much of the dense network's work they took.
#include <sact/sact.h>

#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 3) throw sact::Error("usage: classify MODEL IMAGE");
  const sact::Model model = sact::Model::load(argv[1]);
  sact::Session session(model);
  const sact::Result result = session.run(sact::Image::load(argv[2]));
  for (const sact::ClassScore& best : result.top(5)) {
    std::printf("%5.1f %%  %s\n", 100 * best.score, best.label.c_str());
  }
  const double share = double(result.flops()) / double(result.dense_flops());
  std::printf("with %.1f %% of the dense network's work\n", 100 * share);
} catch (const sact::Error& error) {
  std::fprintf(stderr, "classify: %s\n", error.what());
  return 1;
}
