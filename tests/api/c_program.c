/* What sact/c.h promises, by a program that a C compiler has compiled:
 *   c_program CLASSIFIER DETECTOR PICTURE
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
  memset(&options, 0, sizeof options);
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
  CHECK(!sact_image_load("no/such/picture", &error));
  CHECK(strstr(error.text, "no/such/picture"));
  CHECK(!sact_image_decode("text", 4, &error));
  CHECK(!sact_image_decode(NULL, 4, &error));
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
  CHECK(sact_model_classes(NULL) == 0 && !sact_model_label(NULL, 0));
  CHECK(sact_model_dense_flops(NULL, 64, 64) == -1);
  CHECK(sact_result_top(NULL, 5, NULL) == 0 && !sact_result_logits(NULL));
  CHECK(sact_detections_count(NULL) == 0 && !sact_detections_object(NULL, 0).label);
  CHECK(sact_map_height(NULL) == 0 && !sact_map_values(NULL));
  CHECK(!sact_result_ponder_cost_map(NULL));
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
  CHECK(!sact_detector_new(model, NULL, &error) && strstr(error.text, "make a session"));
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
  sact_map_free(map);
  sact_result_free(two[0]);
  sact_result_free(two[1]);
  sact_result_free(other);
  sact_session_free(session);
  CHECK(sact_result_logits(result)); /* it outlives its session */
  sact_result_free(result);
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
  printf("%d %s %.17g %.9g %.9g %lld %.17g\n", object.index, object.label, object.score, object.x0,
         object.y1, (long long)sact_detections_flops(found), sact_detections_ponder_cost(found));
  map = sact_detections_ponder_cost_map(found);
  CHECK(map && sact_map_height(map) > 0);
  sact_map_free(map);
  map = sact_detector_saliency_map(detector, view, NULL, NULL, &error);
  CHECK(map && sact_map_height(map) == 90);
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
  if (argc != 5) return 100;
  check_mistakes(argv[4]);
  image = sact_image_load(argv[4], &error);
  CHECK(image);
  view = sact_image_pixels(image);
  CHECK(view.order == SACT_RGB && view.width > 0 && view.stride == 3 * view.width);
  check_session(argv[1], &view);
  check_detector(argv[2], &view);
  check_boxes(argv[3], &view);
  sact_image_free(image);
  return broken;
}
