#include "slimbayes/model/held_out.h"

#include <fmt/format.h>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

/// Returns the rows of a part of a split of examples that had this hash.
const std::vector<int64_t>& rows_in_part(const SplitRows& split, const std::string& hash,
                                         const Examples& examples, const std::string& part) {
  if (hash_of(examples) != hash)
    refuse("evaluate", "the data that the model was fitted on, for `.split`",
           fmt::format("others, '{}'", foreign_text(source_of(examples))),
           "leave `.split` out to take all of them");
  const auto& rows = part == "train"         ? split.train
                     : part == "valid"       ? split.valid
                     : part == "calibration" ? split.calibration
                                             : split.test;
  if (rows.empty())
    refuse("evaluate", fmt::format("a model that was fitted with {} rows", part), "one without",
           part == "calibration" ? "fit with `.calibrate=conformal`"
                                 : fmt::format("fit with `.{}_fraction`", part));
  return rows;
}

}  // namespace

std::optional<Evaluation> report_on(const Model& model, const Examples& examples, double level,
                                    std::vector<std::string>& notes) {
  if (count(examples) == 0) return std::nullopt;
  std::vector<BadRow> bad;
  Evaluation report = model.evaluate(examples, level, &bad);
  if (!bad.empty()) notes.push_back(bad_examples_text(examples, bad, "left out of the report"));
  return report;
}

const std::vector<int64_t>& rows_of_part(const Model& model, const Examples& examples,
                                         const std::string& part) {
  const SplitRows& known = model.split();
  check(!(known.train.empty() && known.valid.empty() && known.test.empty()), "evaluate",
        "a model as it was fitted, for `.split`",
        "one that gave up its split in an update, forget or merge, or was fitted with `.cache`",
        "take the model of the fit, or leave `.split` out");
  return rows_in_part(known, model.data_hash(), examples, part);
}

const std::vector<int64_t>& rows_of_part(const JointModel& model, const Examples& examples,
                                         const std::string& part) {
  return rows_in_part(model.parts().split, model.parts().data_hash, examples, part);
}

Examples part_of(const Model& model, const Examples& examples, const std::string& part) {
  return take(examples, rows_of_part(model, examples, part));
}

}  // namespace slimbayes
