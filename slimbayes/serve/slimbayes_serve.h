#ifndef SLIMBAYES_SERVE_H
#define SLIMBAYES_SERVE_H

/* Answers rows by a model file, without libtorch, Arrow or Python. C99 and C++.
 *
 *   slimbayes_model* model = slimbayes_open("model.safetensors");
 *   if (model == NULL) fprintf(stderr, "%s\n", slimbayes_error());
 *   double row[] = {540, 162, 28};
 *   slimbayes_answer answer = {sizeof answer};
 *   if (slimbayes_predict(model, row, 1, 0.9, &answer) != SLIMBAYES_OK) puts(slimbayes_error());
 *   slimbayes_close(model);
 *
 * What is called a row below is, for a model of windows of a series, the rows of one window after each other,
 * oldest first and one step apart; for a model of texts one text, whose numbers are its tokens and the
 * padding.
 *
 * A model is immutable: threads share it. No function lets an exception out. */

#include <stddef.h>

#if defined(_WIN32)
#define SLIMBAYES_SERVE_API
#else
#define SLIMBAYES_SERVE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slimbayes_model slimbayes_model;

/* What went wrong; slimbayes_error() says it in a sentence. */
typedef enum slimbayes_status {
  SLIMBAYES_OK = 0,
  SLIMBAYES_BAD_ARGUMENT =
      1, /* a null pointer, a level outside (0, 1), a number too far from the training rows */
  SLIMBAYES_BAD_DATA = 2, /* a file that cannot be read or served, a cell that is none of its column's type */
  SLIMBAYES_NUMERICAL = 3, /* an answer, or an end of its interval, that overflows */
  SLIMBAYES_NO_MEMORY = 4,
  SLIMBAYES_INTERNAL = 5 /* a bug of the library */
} slimbayes_status;

/* The answer to a row, in units of the target. sd^2 is the sum of the squares of its two parts: what the
 * data leave as noise, and what the model does not know. Where slimbayes_describe() has the sd_parts "noise
 * and function", as for dbk and dnn, only their sum is calibrated. Set `size` to sizeof(slimbayes_answer)
 * before a call, in an array in its first element: a later version may add fields at the end, and fills those
 * that the size has room for. */
typedef struct slimbayes_answer {
  size_t size;
  double mean;
  double sd;
  double sd_aleatoric;
  double sd_epistemic;
  double lower, upper; /* the interval at the level of the call */
} slimbayes_answer;

/* The answer to a row of a classification, beside its probabilities. Set `size` to
 * sizeof(slimbayes_class_answer), as for slimbayes_answer. */
typedef struct slimbayes_class_answer {
  size_t size;
  size_t label;              /* the most probable class: its place in the classes of slimbayes_describe() */
  double entropy;            /* of the probabilities, in nats */
  double mutual_information; /* its part that is ignorance of the model, in nats */
} slimbayes_class_answer;

/* Returns the version, such as "0.1.0". */
SLIMBAYES_SERVE_API const char* slimbayes_version(void);

/* Returns why the last call of this thread that failed did so; "" before one. Valid until its next
 * failure. */
SLIMBAYES_SERVE_API const char* slimbayes_error(void);

/* Open a model file, or its bytes, which are copied. NULL where that fails. Contents may be untrusted. */
SLIMBAYES_SERVE_API slimbayes_model* slimbayes_open(const char* path);
SLIMBAYES_SERVE_API slimbayes_model* slimbayes_open_bytes(const void* bytes, size_t count);

/* Frees a model; NULL is permitted. No other call may use it then. A thread that answered rows keeps some
 * memory for the next ones until it ends. */
SLIMBAYES_SERVE_API void slimbayes_close(slimbayes_model* model);

/* Returns what the model is as a JSON object: method, task, target, whether intervals and sets are
 * calibrated, and the columns of a row in the order in which the functions below take them, each with its
 * type (number, boolean, category, time, text) and its levels; of classes their names (classes), of numbers
 * and counts sd_parts, target_mean and target_sd, or within bounds these (bounds); of windows their rows,
 * horizon, step, columns of time and of groups (window); of texts the most tokens of one (text). Valid until
 * slimbayes_close(). NULL for a null
 * pointer. */
SLIMBAYES_SERVE_API const char* slimbayes_describe(const slimbayes_model* model);

/* Returns the number of columns; 0 for a null pointer. A window has them for each of its rows. */
SLIMBAYES_SERVE_API size_t slimbayes_columns(const slimbayes_model* model);

/* Return how many texts and how many numbers one row takes: of a table as many as there are columns, of a
 * window as many for each of its rows, of a text 1 and the most tokens of one. 0 for a null pointer. */
SLIMBAYES_SERVE_API size_t slimbayes_row_cells(const slimbayes_model* model);
SLIMBAYES_SERVE_API size_t slimbayes_row_numbers(const slimbayes_model* model);

/* Returns the number of classes; 0 for a model of numbers or counts, and for a null pointer. */
SLIMBAYES_SERVE_API size_t slimbayes_classes(const slimbayes_model* model);

/* Answers `count` rows of numbers by a model of numbers or counts, row after row: NaN is a missing cell,
 * a boolean is 0 or 1, a time is seconds since 1970 UTC, a category its place in the levels (their number
 * for any other). `level` is that of the interval, in (0, 1). Stops at the first row that it cannot
 * answer, whose number from 1 slimbayes_error() names; the rows before it are answered. */
SLIMBAYES_SERVE_API slimbayes_status slimbayes_predict(const slimbayes_model* model, const double* rows,
                                                       size_t count, double level, slimbayes_answer* out);

/* The same for rows of texts, as a CSV file has them; NULL is a missing cell. */
SLIMBAYES_SERVE_API slimbayes_status slimbayes_predict_cells(const slimbayes_model* model,
                                                             const char* const* cells, size_t count,
                                                             double level, slimbayes_answer* out);

/* Answers `count` rows of numbers by a model of classes: writes the probabilities of each row to
 * `probabilities` [count, classes], and more about it to `out`, which may be NULL. Stops as
 * slimbayes_predict(). */
SLIMBAYES_SERVE_API slimbayes_status slimbayes_classify(const slimbayes_model* model, const double* rows,
                                                        size_t count, double* probabilities,
                                                        slimbayes_class_answer* out);

/* The same for rows of texts, as a CSV file has them; NULL is a missing cell. */
SLIMBAYES_SERVE_API slimbayes_status slimbayes_classify_cells(const slimbayes_model* model,
                                                              const char* const* cells, size_t count,
                                                              double* probabilities,
                                                              slimbayes_class_answer* out);

/* Writes 1 to `set` [classes] for each class in the prediction set of a row at this level, and 0 for the
 * others. Sets are randomised by the row's numbers, as those of `slimbayes predict`: a row gets the same set
 * each time, and some sets are empty. A model without conformal calibration has no sets. */
SLIMBAYES_SERVE_API slimbayes_status slimbayes_prediction_set(const slimbayes_model* model, const double* row,
                                                              double level, unsigned char* set);

/* Writes the numbers of a row of texts, as slimbayes_predict takes them, to out
 * [slimbayes_row_numbers()]. */
SLIMBAYES_SERVE_API slimbayes_status slimbayes_numbers(const slimbayes_model* model, const char* const* cells,
                                                       double* out);

/* Writes the quantile of the answer to a row of numbers at a probability in (0, 1), without calibration: the
 * ends of a calibrated interval are others. */
SLIMBAYES_SERVE_API slimbayes_status slimbayes_quantile(const slimbayes_model* model, const double* row,
                                                        double probability, double* out);

/* Writes how far a row of numbers lies from the training rows: half-ranges beyond the training range of a
 * column (0 inside), and the root mean square over the columns of (x - training mean) / training sd. NaN
 * without a column of numbers. */
SLIMBAYES_SERVE_API slimbayes_status slimbayes_scores(const slimbayes_model* model, const double* row,
                                                      double* beyond, double* distance);

#ifdef __cplusplus
}
#endif

#endif
