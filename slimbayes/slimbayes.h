#pragma once

// What a program on slimbayes includes, in the order of its use. `cmake --install` copies this header and
// those that it reaches; the others are the library's own and may change at any time.

// Data: tables (read_table), images (read_images), tensors (regression_data, class_data), toy data.
#include "slimbayes/data/dataset.h"
#include "slimbayes/data/images/images.h"
#include "slimbayes/data/synthetic.h"
#include "slimbayes/data/table/table.h"
// A fit of a user's data: options, fit_model, Model (answers, scores, file, update); FitFile fits with a lock
// and a checkpoint, compare ranks methods, answer_table makes the table of `predict`.
#include "slimbayes/catalog/call_options.h"
#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/fit/comparison.h"
#include "slimbayes/fit/fit_file.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/fit/joint_fit.h"
#include "slimbayes/fit/post_hoc.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/joint/joint_model.h"
#include "slimbayes/model/model.h"
#include "slimbayes/model/row_predictor.h"
// A model file that answers rows without libtorch: the same class is all of libslimbayes_serve.
#include "slimbayes/serve/model.h"
// The report on data: its numbers, and the page of them.
#include "slimbayes/report/facts.h"
#include "slimbayes/report/page.h"
// Answers: means, intervals, densities, metrics.
#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/answers/predictive.h"
// One step lower: a method by its name on tensors; the contract of a method of one's own.
#include "slimbayes/method/method.h"
#include "slimbayes/method/registry.h"
// What a method of one's own is made of: posteriors, random streams, checks and errors; how messages name
// options, for a program that shows them in its own spelling.
#include "slimbayes/catalog/option_tokens.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/core/random.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/version.h"
