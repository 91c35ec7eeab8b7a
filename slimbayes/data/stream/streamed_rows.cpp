#include "slimbayes/data/stream/streamed_rows.h"

#include <ATen/ATen.h>

#include <optional>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/data/stream/block_means.h"
#include "slimbayes/data/stream/row_cache.h"

namespace slimbayes {

namespace {

int64_t row_bytes(const Batch& rows) {
  size_t bytes = rows.target.defined() ? rows.target.nbytes() : 0;
  for (const at::Tensor& x : rows.inputs) bytes += x.nbytes();
  return static_cast<int64_t>(bytes) / rows.inputs.at(0).size(0);
}

}  // namespace

StreamedRows::StreamedRows(TableStream stream, const StreamOptions& options, CacheOptions cache,
                           const Progress& progress)
    : stream_(std::make_unique<TableStream>(std::move(stream))),
      table_(streamed_table(*stream_, options, progress)),
      target_(options.target),
      cache_(std::move(cache)) {}

std::shared_ptr<const Source> StreamedRows::encoded(const InputEncoder& encoder, const Progress& progress,
                                                    std::vector<std::string>* notes) const {
  std::optional<RowCache> rows;
  BlockMeans means;
  stream_->rewind();
  while (std::optional<Table> piece = stream_->next()) {
    Table own = training_rows(std::move(*piece), table_.parts, target_);
    if (own.rows > 0) {
      const Examples examples = std::move(own);
      check_targets(encoder, examples);
      const Batch batch = dataset_of(encoder, examples, /*with_target=*/true).all();
      if (!rows) rows.emplace(cache_.folder, table_.split.streamed, row_bytes(batch));
      rows->add(batch);
      if (batch.target.defined()) means.add(batch.target);
    }
    if (progress) progress(stream_->share());
  }
  internal_check(rows && rows->size() == table_.split.streamed, "StreamedRows",
                 "as many training rows as in the first pass");
  if (std::string note = means.note(window()); notes != nullptr && !note.empty())
    notes->push_back(std::move(note));
  return rows->source(cache_.window);
}

}  // namespace slimbayes
