// Fits an encoder to the events of a Cox process, whose columns are coordinates.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/domain.h"
#include "slimbayes/encoding/encoder.h"
#include "slimbayes/encoding/notes/column_notes.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

// The task's y_shift converts log intensities: log intensity in the user's units = log intensity over the
// encoded coordinates + y_shift. exp(y_shift) has two factors:
// - N / n, if the fit sees n of N events. A random share of a Poisson process is a Poisson process with that
//   share of its intensity, so the intensity of all events is N / n times as high.
// - 2^d / V, where V is the volume of the domain in the user's units. The encoded domain [-1, 1]^d has the
//   volume 2^d, so an intensity per encoded volume is multiplied by 2^d / V.
Encoder Encoder::fit_events(const Table& table, const std::vector<int64_t>& rows,
                            const EncoderOptions& options) {
  if (!options.target.empty())
    refuse("Encoder::fit", "no target for `.likelihood=cox`, whose rows are events",
           in_quotes(options.target), "leave `.target` out");
  Encoder encoder;
  encoder.options_ = options;
  for (const Column& column : table.columns) {
    if (std::ranges::find(options.ignore, column.name) != options.ignore.end()) continue;
    if (is_row_label(column.name)) {
      encoder.notes_.push_back(row_label_note(column));
      continue;
    }
    if (column.kind != ColumnKind::numeric)
      refuse("Encoder::fit", "coordinates that are numbers",
             fmt::format("the {} column {}", kind_name(column.kind), in_quotes(column.name)),
             "name it in `.ignore`");
    encoder.schema_.features.push_back(column.name);
  }
  size_t d = encoder.schema_.features.size();
  if (!(d > 0 && d == options.domain.size()))
    refuse("Encoder::fit", fmt::format("a domain of {} axes, one a coordinate", d),
           fmt::format("{}", options.domain.size()),
           "`.domain=0:1,0:2` gives two; `.ignore` leaves columns out");
  for (size_t i = 0; i < d; ++i) {
    const Axis& axis = options.domain[i];
    Feature feature;
    feature.name = encoder.schema_.features[i];
    feature.scaled = true;
    feature.shift = feature.fill = axis.low / 2 + axis.high / 2;
    feature.scale = axis.high / 2 - axis.low / 2;
    const Column& column = *table.find(feature.name);
    check_inside(table, column, axis);
    encoder.notes_.push_back(rounded_note(column, "column " + in_quotes(column.name), kRoundedAlike));
    encoder.features_.push_back(std::move(feature));
  }
  std::erase(encoder.notes_, "");
  Task& task = encoder.schema_.task;
  task.kind = TaskKind::events;
  task.likelihood = LikelihoodKind::cox;
  double share = static_cast<double>(rows.size()) / static_cast<double>(table.rows);
  task.y_shift = static_cast<double>(d) * std::log(2.0) - std::log(volume(options.domain)) - std::log(share);
  return encoder;
}

}  // namespace slimbayes
