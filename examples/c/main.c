/* The five most probable classes of a picture, and how much of the dense network's work they took:
 * examples/classify in C. */
#include <sact/c.h>
#include <stdio.h>

int main(int argc, char** argv) {
  sact_error error;
  sact_model* model;
  sact_image* image = NULL;
  sact_session* session = NULL;
  sact_result* result = NULL;
  int status = 1;
  if (argc != 3) {
    fprintf(stderr, "usage: classify MODEL IMAGE\n");
    return 1;
  }
  model = sact_model_load(argv[1], NULL, &error);
  if (model) image = sact_image_load(argv[2], NULL, &error);
  if (image) session = sact_session_new(model, NULL, &error);
  if (session) {
    const sact_image_view view = sact_image_pixels(image);
    sact_session_run(session, &view, 1, NULL, &result, &error);
  }
  if (result) {
    sact_class_score top[5];
    const int count = sact_result_top(result, 5, top);
    int i;
    for (i = 0; i < count; ++i) printf("%5.1f %%  %s\n", 100 * top[i].score, top[i].label);
    printf("with %.1f %% of the dense network's work\n",
           100.0 * (double)sact_result_flops(result) / (double)sact_result_dense_flops(result));
    status = 0;
  } else {
    fprintf(stderr, "classify: %s\n", error.text);
  }
  sact_result_free(result);
  sact_session_free(session);
  sact_image_free(image);
  sact_model_free(model);
  return status;
}
