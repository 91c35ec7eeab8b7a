#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace slimbayes {

// The rank of the conformity score that becomes the conformal factor (answers/conformal.h), in plain numbers.

/// Returns ceil((groups + 1) level).
int64_t conformal_rank(int64_t groups, double level);

/// Returns how many calibration rows (or groups, if inputs repeat) conformal prediction needs at this level:
/// the least m with ceil((m + 1) level) <= m. With fewer rows no finite interval has the level. Throws
/// std::invalid_argument unless 0 < level <= kMostLevel.
int64_t conformal_rows(double level);

/// Throws std::invalid_argument if there are too few groups of calibration rows for this level, that is fewer
/// than conformal_rows(level); the message says how many are needed. `rows`, the number of rows in all
/// groups, is only used in the message. Also throws unless 0 < level <= kMostLevel.
void check_conformal_rows(int64_t groups, double level, int64_t rows);

/// The most that the weights of the calibration rows may sum to. A double counts up to it one by one, so that
/// beside a larger sum the new row's weight of 1 would be lost; and a sum that is no int64_t has no rank.
inline constexpr double kMostCalibrationWeight = 9007199254740992;  // 2^53

/// Throws std::invalid_argument, which names `function` and ends in `hint`, unless the sum of these weights
/// is at most kMostCalibrationWeight. Each must be > 0.
void check_calibration_weight(std::span<const double> weight, std::string_view function,
                              std::string_view hint);

/// Returns the conformal factor that answers/conformal.h describes: `scores` [m] in ascending order, and the
/// group of each, from 0 to groups - 1. `weight` [m] are those of ConformalScores::weight, each > 0; empty
/// without them. Throws std::invalid_argument as check_conformal_rows does, of weighted rows with the sum of
/// the weights, rounded down, as the number of groups, and as check_calibration_weight does.
double conformal_factor(std::span<const double> scores, std::span<const int64_t> group, int64_t groups,
                        double level, std::span<const double> weight = {});

/// Return the number in (0, 1) by which the prediction set of a row is randomised (answers/prediction_set.h):
/// a function of the row's inputs alone, or of their bytes, in which no 0 is negative.
double row_uniform(std::span<const float> inputs);
double row_uniform(std::string_view bytes);

/// Marks the classes of a row's prediction set in `set` [C], of the probabilities `p` [C]: those whose score,
/// the sum of the more probable classes plus `u` times their own probability, is at most `factor`, a
/// conformal_factor(). Of equal classes the first counts as the more probable.
void mark_set(std::span<const double> p, double u, double factor, std::span<unsigned char> set);

}  // namespace slimbayes
