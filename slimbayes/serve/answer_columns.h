#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/task.h"

namespace slimbayes {

// The columns of the answers to n rows, as `slimbayes predict` and answer_table() (model/answer_table.h)
// write them. Each list has n numbers, NaN for a row without an answer.

/// The answers of a regression; each list in units of the target.
struct NumberAnswers {
  std::vector<double> mean, median, sd;      // median: empty for a Gaussian answer
  std::vector<double> aleatoric, epistemic;  // the two parts of the sd; empty: they are not shown
};
/// `named`: whether the parts are called aleatoric and epistemic, else noise and function.
std::vector<Column> columns_of(NumberAnswers answers, bool named);

/// The answers of a classification.
struct ClassAnswers {
  std::vector<std::vector<double>> probabilities;  // [classes][n]
  std::vector<double> entropy, mutual_information;
  std::vector<double> label;  // class numbers
};
std::vector<Column> columns_of(ClassAnswers answers, const std::vector<std::string>& classes);

/// The answers of a regression of counts: the mean and the two parts of the variance; without an aleatoric
/// variance it is the mean, that of Poisson noise.
std::vector<Column> columns_of_counts(std::vector<double> mean, const std::vector<double>& epistemic_var,
                                      std::vector<double> aleatoric_var = {});

/// Returns what the names of the columns of one of `levels` levels end in: nothing, or the level in percent,
/// such as "_90".
std::string level_ending(double level, size_t levels);

std::vector<Column> interval_columns(std::vector<double> lower, std::vector<double> upper,
                                     const std::string& ending);

/// Returns a note if at least one in a hundred of the lower ends of a regression's intervals at this level
/// was raised to 0 (Regression::least), which is wrong for a target that was positive in training by chance;
/// else "".
std::string raised_note(const Task& task, double level, const std::vector<double>& lower);

/// Returns the column "set": the names of the classes in each row's set, in the order of `classes` and joined
/// by "|". An empty set gives an empty cell. members [n, classes], 1 for a class in the set.
Column set_column(const std::vector<unsigned char>& members, const std::vector<std::string>& classes,
                  const std::string& ending);

}  // namespace slimbayes
