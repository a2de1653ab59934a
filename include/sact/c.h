/* The library for C (C99), and for all that can call C. docs/c.md is the guide; sact/sact.h is the
 * same for C++, and says more about what things mean.
 *
 * Handles are made by functions that return them and freed by the function of that name with
 * `_free`, which takes NULL as well. What belongs to a handle (labels, values of maps) lives as
 * long as it does. Functions that can fail take a sact_error for one line of text, or NULL.
 *
 * Any number of threads may use the same image, model or result. A session or detector serves one
 * thread at a time. */
#ifndef SACT_C_H
#define SACT_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change that compiled programs notice, before 1.0 too, as the number in the
 * library's file name. */
#define SACT_ABI_VERSION 0
int sact_abi_version(void);     /* of the library that was linked */
const char* sact_version(void); /* such as "0.1.0" */

typedef enum sact_status {
  SACT_OK = 0,
  SACT_FAILED = 1,   /* the sact_error says why */
  SACT_CANCELLED = 2 /* because a callback said so */
} sact_status;

typedef struct sact_error {
  char text[1024]; /* empty after a call without error */
} sact_error;

typedef struct sact_image sact_image;
typedef struct sact_model sact_model;
typedef struct sact_input sact_input;
typedef struct sact_session sact_session;
typedef struct sact_result sact_result;
typedef struct sact_detector sact_detector;
typedef struct sact_detections sact_detections;
typedef struct sact_map sact_map;

/* ---- Pictures ---- */

typedef enum sact_pixel_order {
  SACT_RGB = 0,
  SACT_BGR = 1,
  SACT_RGBA = 2,
  SACT_BGRA = 3,
  SACT_GREY = 4
} sact_pixel_order;

/* 8-bit pixels in the caller's memory, read where they lie. */
typedef struct sact_image_view {
  const uint8_t* data;
  int width, height;
  ptrdiff_t stride; /* bytes from a row to the next; 0: no gap */
  sact_pixel_order order;
} sact_image_view;

typedef struct sact_image_options {
  int64_t max_pixels; /* pictures with more are refused; 0: 100 million */
  const char* name;   /* of a decoded one in messages; NULL: "image" */
} sact_image_options;

/* JPEG, PNG, WebP, TIFF, GIF or BMP. NULL: it failed. `options` may be NULL, here and below, for
 * zeros, which are the defaults. */
sact_image* sact_image_load(const char* path, const sact_image_options* options, sact_error* error);
sact_image* sact_image_decode(const void* bytes, size_t size, const sact_image_options* options,
                              sact_error* error);
void sact_image_free(sact_image* image);
/* Its pixels, for the functions below; they belong to the image. */
sact_image_view sact_image_pixels(const sact_image* image);

/* ---- Models ---- */

typedef enum sact_precision {
  SACT_OWN_PRECISION = 0, /* int8 for models that were exported for it, float32 for others */
  SACT_FLOAT32 = 1,
  SACT_BFLOAT16 = 2,
  SACT_INT8 = 3,
  SACT_FLOAT16 = 4 /* on GPUs alone */
} sact_precision;

typedef struct sact_model_options {
  sact_precision precision;
  int exact;          /* not 0: direct products in all layers */
  const char* isa;    /* NULL: the fastest kernels that this processor has */
  const char* device; /* one of sact_device(); NULL: "cpu" */
} sact_model_options;

/* What sact_model_load() finds back ends for: 0, 1 and so on; NULL: there are no more. */
const char* sact_device(int index);

typedef enum sact_halting { SACT_NO_HALTING = 0, SACT_ACT = 1, SACT_SACT = 2 } sact_halting;

sact_model* sact_model_load(const char* path, const sact_model_options* options, sact_error* error);
void sact_model_free(sact_model* model);
int sact_model_detects(const sact_model* model); /* 1: for sact_detector, 0: for sact_session */
int sact_model_classes(const sact_model* model);
const char* sact_model_label(const sact_model* model, int index); /* NULL: there is no such class */
int sact_model_input_size(const sact_model* model);
sact_halting sact_model_halting(const sact_model* model);
int sact_model_blocks(const sact_model* model);
int sact_model_units(const sact_model* model, int block); /* 0: there is no such block */
int64_t sact_model_parameters(const sact_model* model);
/* -1: no network runs on images of that size. */
int64_t sact_model_dense_flops(const sact_model* model, int height, int width);
/* 1 where the model has a curve for budgets, whose ends are stored; 0 where it has none. */
int sact_model_budgets(const sact_model* model, double* least, double* largest);
/* What a person should know about the file: 0, 1 and so on; NULL: there are no more. */
const char* sact_model_remark(const sact_model* model, int index);

typedef struct sact_input_options {
  int size;  /* side of the square input; 0: the model's own */
  int whole; /* not 0: the whole picture, whose shorter side gets `size` */
} sact_input_options;

/* The input that sact_session_run() makes of a picture, for sact_session_run_tensor(). No session
 * is needed, so that threads which load pictures can do it. */
sact_input* sact_model_prepare(const sact_model* model, const sact_image_view* image,
                               const sact_input_options* options, sact_error* error);
void sact_input_free(sact_input* input);
int sact_input_height(const sact_input* input);
int sact_input_width(const sact_input* input);
const float* sact_input_planes(const sact_input* input); /* [3, height, width] */

/* ---- What goes with a session or a call ---- */

typedef struct sact_work {
  double halting_shift;
  double budget;      /* 0: none */
  double hard_budget; /* 0: none */
} sact_work;

typedef struct sact_session_options {
  int threads; /* 0: all */
  int batch;   /* images that run together at most; 0: 8 */
  sact_work work;
} sact_session_options;

typedef struct sact_run_options {
  sact_input_options input; /* detectors have a size of their own */
  const sact_work* work;    /* NULL: that of the session */
  /* Called with `user` by the thread that called; NULL: not at all. `cancelled` is asked after
   * every residual unit: not 0 ends the call with SACT_CANCELLED. */
  int (*cancelled)(void* user);
  void (*progress)(void* user, int done, int total);
  void* user;
} sact_run_options;

typedef struct sact_saliency_options {
  int size;             /* shorter side of what the network sees; 0: 180, for a detector 360 */
  double blur;          /* 0: 10 positions; below 0: none */
  double center_weight; /* 0: 0.005; below 0: none */
  double center_sigma;  /* 0: 0.25 */
} sact_saliency_options;

/* ---- Maps: rows from top to bottom ---- */

int sact_map_height(const sact_map* map);
int sact_map_width(const sact_map* map);
const float* sact_map_values(const sact_map* map);
void sact_map_free(sact_map* map);

/* ---- Classifying ---- */

sact_session* sact_session_new(const sact_model* model, const sact_session_options* options,
                               sact_error* error);
void sact_session_free(sact_session* session);
sact_status sact_session_warm_up(sact_session* session, int images, int size, sact_error* error);
/* `results` has room for `count` handles, all of which are set where the status is SACT_OK, and
 * none otherwise. Images may have different sizes. */
sact_status sact_session_run(sact_session* session, const sact_image_view* images, int count,
                             const sact_run_options* options, sact_result** results,
                             sact_error* error);
/* On normalised images [count, 3, height, width]. */
sact_status sact_session_run_tensor(sact_session* session, const float* planes, int count,
                                    int height, int width, const sact_run_options* options,
                                    sact_result** results, sact_error* error);
sact_map* sact_session_saliency_map(sact_session* session, const sact_image_view* image,
                                    const sact_saliency_options* saliency,
                                    const sact_run_options* options, sact_error* error);

typedef struct sact_class_score {
  int index;
  const char* label;
  double score; /* probability */
} sact_class_score;

void sact_result_free(sact_result* result);
/* Stores the most probable classes, the best first, and returns how many. */
int sact_result_top(const sact_result* result, int count, sact_class_score* top);
const float* sact_result_logits(const sact_result* result); /* one for each class */
int64_t sact_result_flops(const sact_result* result);
int64_t sact_result_dense_flops(const sact_result* result);
double sact_result_ponder_cost(const sact_result* result);
double sact_result_prepare_ms(const sact_result* result);
double sact_result_network_ms(const sact_result* result);
/* To be freed; NULL: there is no memory for it. */
sact_map* sact_result_ponder_cost_map(const sact_result* result);
/* Of one block: the map's values, its size, and the units of every position. NULL: no such block.
 */
const float* sact_result_block_ponder_cost(const sact_result* result, int block, int* height,
                                           int* width);
const int32_t* sact_result_block_units(const sact_result* result, int block);

/* ---- Finding objects ---- */

typedef struct sact_detect_options {
  double score;  /* objects of at least this one; 0: 0.05; below 0: all */
  int most;      /* 0: 100 */
  int boxes;     /* at most so many are looked at; 0: the model's own number */
  int all_boxes; /* not 0: also those in which no object of that score is likely */
} sact_detect_options;

typedef struct sact_object {
  float x0, y0, x1, y1; /* in pixels of the picture that was given */
  int index;
  const char* label;
  double score;
} sact_object;

/* Milliseconds of each stage. */
typedef struct sact_detector_times {
  double scale, extractor, proposals, crops, boxes, rest;
} sact_detector_times;

sact_detector* sact_detector_new(const sact_model* model, const sact_session_options* options,
                                 sact_error* error);
void sact_detector_free(sact_detector* detector);
sact_status sact_detector_warm_up(sact_detector* detector, int height, int width,
                                  sact_error* error);
sact_status sact_detector_detect(sact_detector* detector, const sact_image_view* images, int count,
                                 const sact_detect_options* wanted, const sact_run_options* options,
                                 sact_detections** detections, sact_error* error);
sact_map* sact_detector_saliency_map(sact_detector* detector, const sact_image_view* image,
                                     const sact_saliency_options* saliency,
                                     const sact_run_options* options, sact_error* error);

void sact_detections_free(sact_detections* detections);
int sact_detections_count(const sact_detections* detections);
/* Zeros and no label where there is no such object. */
sact_object sact_detections_object(const sact_detections* detections, int index);
int64_t sact_detections_flops(const sact_detections* detections);
int64_t sact_detections_dense_flops(const sact_detections* detections);
int64_t sact_detections_box_flops(const sact_detections* detections);
int64_t sact_detections_dense_box_flops(const sact_detections* detections);
int sact_detections_proposals(const sact_detections* detections);
double sact_detections_ponder_cost(const sact_detections* detections);
sact_map* sact_detections_ponder_cost_map(const sact_detections* detections);
/* Of one block of the extractor, as for results. */
const float* sact_detections_block_ponder_cost(const sact_detections* detections, int block,
                                               int* height, int* width);
const int32_t* sact_detections_block_units(const sact_detections* detections, int block);
/* The size that the picture was scaled to. */
int sact_detections_scaled_height(const sact_detections* detections);
int sact_detections_scaled_width(const sact_detections* detections);
sact_detector_times sact_detections_ms(const sact_detections* detections);

#ifdef __cplusplus
}
#endif

#endif
