/* Answers the rows of standard input by a model file, in C, with nothing but libslimbayes_serve:
 *
 *   cc -std=c99 predict.c -I PREFIX/include -L PREFIX/lib -lslimbayes_serve -Wl,-rpath,PREFIX/lib -o predict
 *   ./predict model.safetensors 0.9 < rows.txt
 *
 * A line holds the cells of a row, separated by commas without quotes, in the order that the first line of
 * the output names. An empty cell is a missing one. For a model of windows a line holds the cells of all rows
 * of a window, oldest first (paste -sd, latest.csv makes one of a file without a header); for a model of
 * texts it is the text. */
#include <slimbayes_serve.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 65536 };

static int fail(const char* what) {
  fprintf(stderr, "error: %s\n", what);
  return 1;
}

/* Cuts the line at its commas, up to `most` cells; a text is one cell. Returns the number of its cells, also
 * of those beyond. */
static size_t cut(char* line, const char** cells, size_t most, int text) {
  size_t count = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (;;) {
    if (count < most) cells[count] = line;
    ++count;
    line = text ? NULL : strchr(line, ',');
    if (line == NULL) return count;
    *line++ = '\0';
  }
}

/* Answers a row by a model of numbers or counts. */
static int answer_number(const slimbayes_model* model, const char** cells, double level) {
  slimbayes_answer answer = {sizeof answer, 0, 0, 0, 0, 0, 0};
  if (slimbayes_predict_cells(model, cells, 1, level, &answer) != SLIMBAYES_OK) return fail(slimbayes_error());
  printf("%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", answer.mean, answer.sd, answer.sd_aleatoric, answer.sd_epistemic,
         answer.lower, answer.upper);
  return 0;
}

/* Answers a row by a model of classes: the place of the most probable one, and the probabilities. */
static int answer_class(const slimbayes_model* model, const char** cells, double* probabilities) {
  const size_t classes = slimbayes_classes(model);
  slimbayes_class_answer answer = {sizeof answer, 0, 0, 0};
  size_t i;
  if (slimbayes_classify_cells(model, cells, 1, probabilities, &answer) != SLIMBAYES_OK)
    return fail(slimbayes_error());
  printf("%lu,%.9g", (unsigned long)answer.label, answer.mutual_information);
  for (i = 0; i < classes; ++i) printf(",%.9g", probabilities[i]);
  printf("\n");
  return 0;
}

static int refuse_cells(unsigned long line, size_t given, size_t expected) {
  fprintf(stderr,
          "error: line %lu: expected %lu cells, of a window those of all its rows; received %lu\n", line,
          (unsigned long)expected, (unsigned long)given);
  return 1;
}

static int answer_rows(const slimbayes_model* model, double level) {
  static char line[LONGEST];
  const size_t texts = slimbayes_row_cells(model), classes = slimbayes_classes(model);
  const char** cells = malloc((texts + 1) * sizeof *cells);
  double* probabilities = malloc((classes + 1) * sizeof *probabilities);
  const int text = slimbayes_row_numbers(model) != texts; /* its tokens */
  unsigned long line_number = 0;
  size_t given;
  int failed = cells == NULL || probabilities == NULL ? fail("out of memory") : 0;
  while (!failed && fgets(line, sizeof line, stdin) != NULL) {
    ++line_number;
    if (strchr(line, '\n') == NULL && !feof(stdin))
      failed = fail("a line is too long");
    else if ((given = cut(line, cells, texts, text)) != texts)
      failed = refuse_cells(line_number, given, texts);
    else
      failed = classes > 0 ? answer_class(model, cells, probabilities) : answer_number(model, cells, level);
  }
  free(probabilities);
  free(cells);
  return failed;
}

int main(int argc, char** argv) {
  slimbayes_model* model;
  int failed;
  if (argc < 2) return fail("expected a model file, and perhaps a level; received nothing");
  model = slimbayes_open(argv[1]);
  if (model == NULL) return fail(slimbayes_error());
  printf("# %s\n%s\n", slimbayes_describe(model),
         slimbayes_classes(model) > 0 ? "label,mutual_information,probabilities"
                                      : "mean,sd,sd_aleatoric,sd_epistemic,lower,upper");
  failed = answer_rows(model, argc > 2 ? atof(argv[2]) : 0.95);
  slimbayes_close(model);
  return failed;
}
