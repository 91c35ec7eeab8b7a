#include "slimbayes/fit/fit_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "slimbayes/fit/fit_notes.h"
#include "slimbayes/fit/fit_resolved.h"
#include "slimbayes/model/held_out.h"
#include "slimbayes/model/persistence.h"
#include "slimbayes/model/trust_notes.h"

namespace slimbayes {

void score_held_out(FitOutcome& out, const FitData& data, double level) {
  const Model& model = *out.model;
  const auto part = [&](const std::vector<int64_t>& rows) {
    return report_on(model, take(data.examples, rows), level, out.notes);
  };
  const auto add = [&](const std::vector<std::string>& more) {
    std::ranges::copy(more, std::back_inserter(out.notes));
  };
  if (out.interrupted) return add(fit_notes(model, {}, {}, level));
  out.valid = data.valid != nullptr ? report_on(model, model.examples(*data.valid, true), level, out.notes)
                                    : part(model.split().valid);
  out.test = part(model.split().test);
  const std::string test = fmt::format("test {}", noun_of(kind_of(model.encoder())));
  if (out.test)
    if (const std::string few = few_scored(out.test->n, test, kTestMore); !few.empty()) add({few});
  add(fit_notes(model, out.valid, out.test, level));
  if (const auto& scored = out.test ? out.test : out.valid)
    add(persistence_notes(*scored, windows_of_part(scored->n, out.test ? "test" : "validation")));
}

FitOutcome fit_in_memory(const ResolvedFit& request, const Examples& examples, const Examples* valid,
                         const std::vector<std::string>& notes, Callback& callback) {
  const FitData data(examples, valid);
  FitOutcome out{.model = {}, .notes = notes};
  if (std::string note = device_note(request); !note.empty()) out.notes.push_back(std::move(note));
  try {
    out.model = fit_resolved(request, data, &callback);
  } catch (const std::exception&) {
    // A fit that was stopped before its first validation may throw in prediction, because it has no chosen
    // parameters. That is an interruption and not a failure.
    if (!callback.stop()) throw;
  }
  out.interrupted = !out.model || out.model->interrupted();
  if (out.model && !is_usable(out.model->fitted().summary())) out.model.reset();
  if (out.model) score_held_out(out, data, request.fit.level);
  return out;
}

}  // namespace slimbayes
