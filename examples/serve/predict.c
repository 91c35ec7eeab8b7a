/* Answers the rows of standard input by a model file, in C, with nothing but libslimbayes_serve:
 *
 *   cc -std=c99 predict.c -I PREFIX/include -L PREFIX/lib -lslimbayes_serve -Wl,-rpath,PREFIX/lib -o predict
 *   ./predict model.safetensors 0.9 < rows.txt
 *
 * A line holds the cells of a row, separated by commas without quotes, in the order that the first line of the output
 * names. An empty cell is a missing one. */
#include <slimbayes_serve.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 65536 };

static int fail(const char* what) {
  fprintf(stderr, "error: %s\n", what);
  return 1;
}

/* Cuts the line at its commas, up to `most` cells. Returns the number of its cells, also of those beyond. */
static size_t cut(char* line, const char** cells, size_t most) {
  size_t count = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (;;) {
    if (count < most) cells[count] = line;
    ++count;
    line = strchr(line, ',');
    if (line == NULL) return count;
    *line++ = '\0';
  }
}

static int answer_rows(const slimbayes_model* model, double level) {
  static char line[LONGEST];
  const size_t columns = slimbayes_columns(model);
  const char** cells = malloc(columns * sizeof *cells);
  int failed = cells == NULL ? fail("out of memory") : 0;
  while (!failed && fgets(line, sizeof line, stdin) != NULL) {
    slimbayes_answer answer = {sizeof answer, 0, 0, 0, 0, 0, 0};
    if (strchr(line, '\n') == NULL && !feof(stdin))
      failed = fail("a line is too long");
    else if (cut(line, cells, columns) != columns)
      failed = fail("a row has another number of cells than the model has columns");
    else if (slimbayes_predict_cells(model, cells, 1, level, &answer) != SLIMBAYES_OK)
      failed = fail(slimbayes_error());
    else
      printf("%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", answer.mean, answer.sd, answer.sd_aleatoric, answer.sd_epistemic,
             answer.lower, answer.upper);
  }
  free(cells);
  return failed;
}

int main(int argc, char** argv) {
  slimbayes_model* model;
  int failed;
  if (argc < 2) return fail("expected a model file, and perhaps a level; received nothing");
  model = slimbayes_open(argv[1]);
  if (model == NULL) return fail(slimbayes_error());
  printf("# %s\nmean,sd,sd_aleatoric,sd_epistemic,lower,upper\n", slimbayes_describe(model));
  failed = answer_rows(model, argc > 2 ? atof(argv[2]) : 0.95);
  slimbayes_close(model);
  return failed;
}
