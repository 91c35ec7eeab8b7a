#include "slimbayes/model/uncertainty.h"

#include "slimbayes/answers/uncertainty_report.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/model/model_weights.h"

namespace slimbayes {

std::optional<UncertaintyReport> uncertainty_of(const Model& model, const Examples& examples,
                                                const Answers& answers) {
  check_same(examples, answers);
  check(!answers.levels.empty(), "uncertainty_of", "answers with a level", "answers without");
  if (std::holds_alternative<Intensity>(answers.answer) || model.schema().task.grid) return std::nullopt;
  if (answers.rows.empty() && !answers.bad.empty()) throw_bad_example(examples, answers.bad.front());
  check_targets(model.encoder(), examples);
  if (const PositiveExamples scored = scored_examples(examples, model.fit_options()); scored.some)
    return uncertainty_of(model, *scored.some, take(answers, scored.places));
  const at::Tensor y =
      target_as_given(model.encoder(), answers.bad.empty() ? examples : take(examples, answers.rows));
  const Task& task = model.schema().task;
  return uncertainty_report(answers.answer, y,
                            {ood_score(find_method(model.method()), model.options()),
                             answers.levels.front().level, target_sd(task)},
                            answered_weights(model, examples, answers));
}

}  // namespace slimbayes
