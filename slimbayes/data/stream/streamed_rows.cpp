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

StreamedRows::StreamedRows(TableStream stream, StreamedTable table, std::string target, CacheOptions cache,
                           bool in_parts)
    : stream_(std::make_unique<TableStream>(std::move(stream))),
      table_(std::move(table)),
      target_(std::move(target)),
      cache_(std::move(cache)),
      in_parts_(in_parts) {}

std::unique_ptr<RowCache> StreamedRows::encoded(const InputEncoder& encoder, bool whole,
                                                const Progress& progress,
                                                std::vector<std::string>* notes) const {
  std::unique_ptr<RowCache> rows;
  BlockMeans means;
  if (whole && in_parts_)
    stream_->read_all();
  else
    stream_->rewind();
  while (std::optional<Table> piece = stream_->next()) {
    Table own = training_rows(std::move(*piece), table_.parts, target_);
    if (own.rows > 0) {
      const Examples examples = std::move(own);
      check_targets(encoder, examples);
      const Batch batch = dataset_of(encoder, examples, /*with_target=*/true).all();
      if (!rows) rows = std::make_unique<RowCache>(cache_.folder, table_.split.streamed, row_bytes(batch));
      rows->add(batch);
      if (batch.target.defined()) means.add(batch.target);
    }
    if (progress) progress(stream_->share());
  }
  const int64_t size = rows ? rows->size() : 0;
  internal_check(in_parts_ && !whole ? size <= table_.split.streamed : size == table_.split.streamed,
                 "StreamedRows", "as many training rows as in the first pass");
  check(rows != nullptr, "fit", "training rows in the files of every rank", "none in those of this one",
        "start fewer ranks");
  if (std::string note = means.note(window()); notes != nullptr && !note.empty())
    notes->push_back(std::move(note));
  return rows;
}

}  // namespace slimbayes
