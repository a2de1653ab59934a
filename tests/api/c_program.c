/* What sact/c.h promises, by a program that a C compiler has compiled:
 *   c_program CLASSIFIER DETECTOR DETECTOR_WITH_CUT MODEL_WITH_REMARK PICTURE
 * Prints what the networks say, for c_test.cpp to compare; the status is the number of broken
 * promises. */
#include <sact/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int broken = 0;

#define CHECK(condition) \
  ((condition) ? (void)0 : (void)(++broken, printf("line %d: %s\n", __LINE__, #condition)))

static int asked = 0, told = 0, last = 0;

static int cancelled(void* user) {
  ++asked;
  return user && asked >= *(int*)user;
}

static void progress(void* user, int done, int total) {
  (void)user;
  CHECK(done <= total);
  told = done;
}

static void check_mistakes(const char* picture) {
  sact_error error;
  sact_model_options options;
  sact_image_options small;
  memset(&options, 0, sizeof options);
  memset(&small, 0, sizeof small);
  CHECK(sact_abi_version() == SACT_ABI_VERSION);
  CHECK(strlen(sact_version()) >= 5);
  CHECK(!sact_model_load("no/such/model", NULL, &error));
  CHECK(strstr(error.text, "no/such/model"));
  CHECK(!sact_model_load("no/such/model", NULL, NULL));
  CHECK(!sact_model_load(NULL, NULL, &error));
  CHECK(strstr(error.text, "path is NULL"));
  options.precision = (sact_precision)99;
  CHECK(!sact_model_load(picture, &options, &error));
  CHECK(strstr(error.text, "99"));
  options.precision = SACT_OWN_PRECISION;
  options.device = "cuda";
  CHECK(!sact_model_load(picture, &options, &error));
  CHECK(!sact_image_load("no/such/picture", NULL, &error));
  CHECK(strstr(error.text, "no/such/picture"));
  CHECK(!sact_image_decode("text", 4, NULL, &error));
  CHECK(!sact_image_decode(NULL, 4, NULL, &error));
  small.max_pixels = 9;
  CHECK(!sact_image_load(picture, &small, &error));
  CHECK(strstr(error.text, "more than the 9") && strstr(error.text, "max_pixels"));
  small.max_pixels = -1;
  CHECK(!sact_image_decode("text", 4, &small, &error) && strstr(error.text, "max_pixels"));
  small.max_pixels = 0;
  small.name = "words";
  CHECK(!sact_image_decode("text", 4, &small, &error) && strstr(error.text, "words"));
  CHECK(!sact_model_prepare(NULL, NULL, NULL, &error));
  CHECK(!sact_session_new(NULL, NULL, &error));
  CHECK(strstr(error.text, "model is NULL"));
  CHECK(!sact_detector_new(NULL, NULL, &error));
  /* Nothing is freed, and nothing is told of nothing. */
  sact_model_free(NULL);
  sact_image_free(NULL);
  sact_session_free(NULL);
  sact_detector_free(NULL);
  sact_result_free(NULL);
  sact_detections_free(NULL);
  sact_map_free(NULL);
  sact_input_free(NULL);
  CHECK(sact_input_height(NULL) == 0 && !sact_input_planes(NULL));
  CHECK(sact_model_halting(NULL) == SACT_NO_HALTING && sact_model_units(NULL, 0) == 0);
  CHECK(!sact_model_remark(NULL, 0) && !sact_detections_block_units(NULL, 0));
  CHECK(sact_detections_scaled_width(NULL) == 0);
  CHECK(sact_model_classes(NULL) == 0 && !sact_model_label(NULL, 0));
  CHECK(sact_model_dense_flops(NULL, 64, 64) == -1);
  CHECK(sact_result_top(NULL, 5, NULL) == 0 && !sact_result_logits(NULL));
  CHECK(sact_detections_count(NULL) == 0 && !sact_detections_object(NULL, 0).label);
  CHECK(sact_map_height(NULL) == 0 && !sact_map_values(NULL));
  CHECK(!sact_result_ponder_cost_map(NULL));
}

static void print_map(const sact_map* map) {
  int i;
  printf("%d x %d\n", sact_map_height(map), sact_map_width(map));
  for (i = 0; i < sact_map_height(map) * sact_map_width(map); ++i) {
    printf("%.9g\n", sact_map_values(map)[i]);
  }
}

static void print_kinds(const char* path) {
  sact_model* model = sact_model_load(path, NULL, NULL);
  int i;
  CHECK(sact_model_halting(model) == SACT_ACT);
  CHECK(sact_model_units(model, 0) == 2 && sact_model_units(model, 1) == 4);
  CHECK(sact_model_units(model, -1) == 0 && sact_model_units(model, 2) == 0);
  CHECK(!sact_model_remark(model, -1) && sact_device(0) && !sact_device(-1));
  for (i = 0; sact_device(i); ++i) printf("%s\n", sact_device(i));
  for (i = 0; sact_model_remark(model, i); ++i) printf("%s\n", sact_model_remark(model, i));
  sact_model_free(model);
}

/* What is prepared without a session gives what the session makes of the picture. */
static void check_prepared(const sact_model* model, sact_session* session,
                           const sact_image_view* view) {
  sact_run_options call;
  sact_result *right = NULL, *found = NULL;
  sact_input* input;
  int i;
  memset(&call, 0, sizeof call);
  call.input.size = 96;
  call.input.whole = 1;
  input = sact_model_prepare(model, view, &call.input, NULL);
  CHECK(sact_input_height(input) == 96 && sact_input_width(input) > 96);
  CHECK(sact_session_run(session, view, 1, &call, &right, NULL) == SACT_OK);
  CHECK(sact_session_run_tensor(session, sact_input_planes(input), 1, sact_input_height(input),
                                sact_input_width(input), NULL, &found, NULL) == SACT_OK);
  for (i = 0; i < 7; ++i) CHECK(sact_result_logits(found)[i] == sact_result_logits(right)[i]);
  sact_input_free(input);
  input = sact_model_prepare(model, view, NULL, NULL);
  CHECK(sact_input_height(input) == 64 && sact_input_width(input) == 64);
  sact_input_free(input);
  sact_result_free(right);
  sact_result_free(found);
}

static void print_result(const sact_result* result) {
  sact_class_score top[100];
  const int classes = sact_result_top(result, 100, top);
  int height = 0, width = 0;
  sact_map* map = sact_result_ponder_cost_map(result);
  const float* block = sact_result_block_ponder_cost(result, 0, &height, &width);
  CHECK(classes == 7);
  CHECK(map && block && sact_map_height(map) == height && sact_map_width(map) == width);
  CHECK(sact_result_block_units(result, 1) && !sact_result_block_units(result, 2));
  CHECK(!sact_result_block_ponder_cost(result, -1, NULL, NULL));
  CHECK(sact_result_network_ms(result) > 0);
  printf("%d %s %.17g %.9g %lld %lld %.17g %.9g\n", top[0].index, top[0].label, top[0].score,
         sact_result_logits(result)[6], (long long)sact_result_flops(result),
         (long long)sact_result_dense_flops(result), sact_result_ponder_cost(result),
         sact_map_values(map)[3]);
  sact_map_free(map);
}

static void check_session(const char* path, const sact_image_view* view) {
  sact_error error;
  sact_session_options one = {1, 0, {0, 0, 0}};
  sact_work less = {2, 0, 0};
  sact_run_options call;
  sact_saliency_options small = {64, -1, -1, 0};
  sact_image_view both[2];
  sact_result *result = NULL, *other = NULL, *two[2] = {NULL, NULL};
  sact_model* model = sact_model_load(path, NULL, &error);
  sact_session* session = sact_session_new(model, &one, &error);
  sact_map* map;
  int calls;
  CHECK(session && error.text[0] == '\0');
  CHECK(!sact_model_detects(model) && sact_model_classes(model) == 7);
  CHECK(strcmp(sact_model_label(model, 6), "class 6") == 0 && !sact_model_label(model, 7));
  CHECK(sact_model_blocks(model) == 2 && sact_model_parameters(model) > 1000);
  CHECK(sact_model_dense_flops(model, 8, 8) == -1 && sact_model_input_size(model) == 64);
  CHECK(!sact_model_budgets(model, NULL, NULL));
  CHECK(sact_model_halting(model) == SACT_SACT && !sact_model_remark(model, 0));
  CHECK(!sact_detector_new(model, NULL, &error) && strstr(error.text, "make a session"));
  check_prepared(model, session, view);
  sact_model_free(model); /* the session has what it needs */
  CHECK(sact_session_warm_up(session, 2, 0, &error) == SACT_OK);

  CHECK(sact_session_run(session, view, 1, NULL, &result, &error) == SACT_OK);
  print_result(result);
  both[0] = both[1] = *view;
  memset(&call, 0, sizeof call);
  call.progress = progress;
  CHECK(sact_session_run(session, both, 2, &call, two, &error) == SACT_OK);
  CHECK(told == 2 && two[0] && two[1]);
  CHECK(sact_result_flops(two[1]) == sact_result_flops(result));
  call.work = &less;
  CHECK(sact_session_run(session, view, 1, &call, &other, &error) == SACT_OK);
  CHECK(sact_result_flops(other) < sact_result_flops(result));
  sact_result_free(other);
  other = NULL;

  call.cancelled = cancelled;
  call.user = NULL;
  CHECK(sact_session_run(session, view, 1, &call, &other, &error) == SACT_OK);
  calls = asked;
  CHECK(calls > 0);
  sact_result_free(other);
  other = NULL;
  asked = 0;
  last = calls;
  call.user = &last;
  CHECK(sact_session_run(session, view, 1, &call, &other, &error) == SACT_CANCELLED);
  CHECK(!other && error.text[0] != '\0');

  CHECK(sact_session_run(session, NULL, 1, NULL, &other, &error) == SACT_FAILED);
  CHECK(sact_session_run(session, view, -1, NULL, &other, &error) == SACT_FAILED);
  CHECK(sact_session_run(session, view, 1, NULL, NULL, &error) == SACT_FAILED);
  CHECK(sact_session_run(session, view, 0, NULL, NULL, &error) == SACT_OK);
  CHECK(sact_session_run(NULL, view, 1, NULL, &other, &error) == SACT_FAILED);
  CHECK(strstr(error.text, "session is NULL"));
  CHECK(sact_session_run_tensor(session, NULL, 1, 64, 64, NULL, &other, &error) == SACT_FAILED);
  {
    float* planes = calloc(3 * 64 * 64, sizeof(float));
    CHECK(sact_session_run_tensor(session, planes, 1, 64, 64, NULL, &other, &error) == SACT_OK);
    CHECK(sact_result_dense_flops(other) == sact_result_dense_flops(result));
    free(planes);
  }
  map = sact_session_saliency_map(session, view, &small, NULL, &error);
  CHECK(map && sact_map_height(map) == 16);
  print_map(map);
  sact_map_free(map);
  sact_result_free(two[0]);
  sact_result_free(two[1]);
  sact_result_free(other);
  sact_session_free(session);
  CHECK(sact_result_logits(result)); /* it outlives its session */
  sact_result_free(result);
}

static void print_blocks(const sact_detections* found) {
  int block, height, width, i;
  for (block = 0; sact_detections_block_units(found, block); ++block) {
    const float* cost = sact_detections_block_ponder_cost(found, block, &height, &width);
    const int32_t* units = sact_detections_block_units(found, block);
    printf("%d x %d\n", height, width);
    for (i = 0; i < height * width; ++i) printf("%.9g %d\n", cost[i], (int)units[i]);
  }
  CHECK(!sact_detections_block_units(found, -1));
  CHECK(!sact_detections_block_ponder_cost(found, block, NULL, NULL));
  printf("%d x %d\n", sact_detections_scaled_height(found), sact_detections_scaled_width(found));
}

static void check_detector(const char* path, const sact_image_view* view) {
  sact_error error;
  sact_session_options one = {1, 0, {0, 0, 0}};
  sact_detect_options few = {-1, 4, 0, 0};
  sact_detections* found = NULL;
  sact_model* model = sact_model_load(path, NULL, &error);
  sact_detector* detector = sact_detector_new(model, &one, &error);
  sact_map* map;
  sact_object object;
  CHECK(detector && sact_model_detects(model));
  CHECK(!sact_session_new(model, NULL, &error) && strstr(error.text, "make a detector"));
  CHECK(sact_detector_warm_up(detector, 0, 0, &error) == SACT_OK);
  CHECK(sact_detector_detect(detector, view, 1, &few, NULL, &found, &error) == SACT_OK);
  CHECK(sact_detections_count(found) == 4);
  CHECK(!sact_detections_object(found, 4).label && !sact_detections_object(found, -1).label);
  CHECK(sact_detections_ms(found).extractor > 0);
  CHECK(sact_detections_proposals(found) > 0 && sact_detections_box_flops(found) > 0);
  object = sact_detections_object(found, 3);
  printf("%d %s %.17g %.9g %.9g %.9g %.9g %lld %.17g\n", object.index, object.label, object.score,
         object.x0, object.y0, object.x1, object.y1, (long long)sact_detections_flops(found),
         sact_detections_ponder_cost(found));
  map = sact_detections_ponder_cost_map(found);
  print_map(map);
  sact_map_free(map);
  print_blocks(found);
  map = sact_detector_saliency_map(detector, view, NULL, NULL, &error);
  CHECK(map && sact_map_height(map) == 90);
  print_map(map);
  sact_map_free(map);
  sact_detections_free(found);
  sact_detector_free(detector);
  sact_model_free(model);
}

static int proposals_of(sact_detector* detector, const sact_image_view* view, int boxes,
                        int all_boxes) {
  sact_error error;
  sact_detections* found = NULL;
  sact_detect_options wanted = {0.1, 0, 0, 0};
  int proposals;
  wanted.boxes = boxes;
  wanted.all_boxes = all_boxes;
  if (sact_detector_detect(detector, view, 1, &wanted, NULL, &found, &error) != SACT_OK) return -1;
  proposals = sact_detections_proposals(found);
  sact_detections_free(found);
  return proposals;
}

/* A model with a cut that no box is above. */
static void check_boxes(const char* path, const sact_image_view* view) {
  sact_error error;
  sact_model* model = sact_model_load(path, NULL, &error);
  sact_detector* detector = sact_detector_new(model, NULL, &error);
  CHECK(proposals_of(detector, view, 0, 0) == 0);
  CHECK(proposals_of(detector, view, 0, 1) == 20);
  CHECK(proposals_of(detector, view, 7, 1) == 7);
  CHECK(proposals_of(detector, view, -1, 1) == -1);
  sact_detector_free(detector);
  sact_model_free(model);
}

int main(int argc, char** argv) {
  sact_error error;
  sact_image* image;
  sact_image_view view;
  if (argc != 6) return 100;
  check_mistakes(argv[5]);
  image = sact_image_load(argv[5], NULL, &error);
  CHECK(image);
  view = sact_image_pixels(image);
  CHECK(view.order == SACT_RGB && view.width > 0 && view.stride == 3 * view.width);
  print_kinds(argv[4]);
  check_session(argv[1], &view);
  check_detector(argv[2], &view);
  check_boxes(argv[3], &view);
  sact_image_free(image);
  return broken;
}
