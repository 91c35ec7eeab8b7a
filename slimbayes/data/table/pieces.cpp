// Reads a file piece by piece through Arrow: Parquet by its row groups, Feather by its record batches, text
// by blocks that end with a record.
#include "slimbayes/data/table/pieces.h"

#include <arrow/api.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>
#include <arrow/util/compression.h>
#include <arrow/util/config.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>

#include <algorithm>
#include <cctype>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include "slimbayes/data/table/arrow.h"
#include "slimbayes/data/table/csv.h"
#include "slimbayes/data/table/pool.h"
#include "slimbayes/data/table/records.h"
#include "slimbayes/data/table/spelling.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

/// Runs `read`, and makes a DataError on this part of the file of whatever Arrow reports.
template <class Read>
auto value_of(const std::string& source, const std::string& part, TablePool& pool, Read read) {
  std::string message;
  try {
    auto result = read();
    if (result.ok()) return std::move(result).ValueUnsafe();
    pool.check(result.status());
    message = result.status().message();
  } catch (const std::bad_alloc&) {
    pool.throw_shortage();
  } catch (const DataError&) {
    throw;
  } catch (const OutOfMemory&) {
    throw;
  } catch (const std::exception& error) {
    message = error.what();
  }
  throw DataError(source, fmt::format("expected {}; received what Arrow cannot read: {}; write the file "
                                      "again, or leave it out",
                                      part, foreign_text(message.substr(0, message.find('\n')))));
}

/// Returns the file's bytes as a stream of Arrow.
arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> opened(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  return std::shared_ptr<arrow::io::RandomAccessFile>(std::move(file));
}

/// The pieces of a file of typed columns, as batches of Arrow.
class TypedPieces : public TablePieces {
 public:
  TypedPieces(std::string source, const TableLimits& limits)
      : source_(std::move(source)),
        limits_(limits),
        pool_(std::make_shared<TablePool>(TableBound::of(limits, 0), 0, source_)) {}

  std::optional<Table> next(const Reading& reading) override {
    while (const std::shared_ptr<arrow::RecordBatch> batch = next_batch()) {
      if (batch->num_rows() == 0) continue;
      auto table = value_of(source_, part(), *pool_, [&]() -> arrow::Result<std::shared_ptr<arrow::Table>> {
        ARROW_RETURN_NOT_OK(batch->ValidateFull());
        return arrow::Table::FromRecordBatches({batch});
      });
      const int64_t before = left_out() + std::exchange(rows_before_, rows_before_ + batch->num_rows());
      return from_arrow(std::move(table), {source_, reading, TableBound::of(limits_, 0), 0, before}, pool_);
    }
    return {};
  }

 protected:
  /// Returns the rows of a piece: so many at most, and fewer where the limit on memory is small.
  int64_t rows_at_once(int64_t most, int64_t columns) const {
    constexpr int64_t kParts = 16;  // of the memory: a piece is decoded, converted and encoded
    if (limits_.memory == 0) return most;
    return std::clamp<int64_t>(
        static_cast<int64_t>(limits_.memory) / (8 * kParts * std::max<int64_t>(1, columns)), 256,
        std::max<int64_t>(most, 256));
  }

  virtual std::shared_ptr<arrow::RecordBatch> next_batch() = 0;  // nullptr after the last one
  virtual std::string part() const = 0;                          // what is being read, for messages

  std::string source_;
  TableLimits limits_;
  std::shared_ptr<TablePool> pool_;
  int64_t rows_before_ = 0;  // rows given so far
};

class ParquetPieces : public TypedPieces {
 public:
  ParquetPieces(const std::string& path, const TableLimits& limits, int64_t rows)
      : TypedPieces(path, limits) {
    reader_ = value_of(
        source_, "a Parquet file", *pool_,
        [&]() -> arrow::Result<std::shared_ptr<parquet::arrow::FileReader>> {
          ARROW_ASSIGN_OR_RAISE(auto file, opened(path));
          parquet::arrow::FileReaderBuilder builder;
          parquet::ReaderProperties pages(pool_.get());
          pages.enable_buffered_stream();  // else a column of a whole row group is read at once
          ARROW_RETURN_NOT_OK(builder.Open(file, pages));
          parquet::ArrowReaderProperties properties(/*use_threads=*/false);
          properties.set_batch_size(rows_at_once(rows, builder.raw_reader()->metadata()->num_columns()));
          properties.set_pre_buffer(false);
          builder.memory_pool(pool_.get())->properties(properties);
          std::unique_ptr<parquet::arrow::FileReader> reader;
          ARROW_RETURN_NOT_OK(builder.Build(&reader));
          return std::shared_ptr<parquet::arrow::FileReader>(std::move(reader));
        });
    check_any_rows(reader_->parquet_reader()->metadata()->num_rows(), source_);
    groups_.resize(static_cast<size_t>(reader_->num_row_groups()));
    std::iota(groups_.begin(), groups_.end(), 0);
  }

 private:
  std::shared_ptr<arrow::RecordBatch> next_batch() override {
    while (true) {
      if (!batches_) {
        if (next_ == groups_.size()) return nullptr;
        const int before = std::exchange(group_, groups_[next_++]);
        for (int i = before + 1; i < group_; ++i)
          left_out_ += reader_->parquet_reader()->metadata()->RowGroup(i)->num_rows();
        batches_ = value_of(source_, part(), *pool_, [&] { return group(); });
      }
      auto batch =
          value_of(source_, part(), *pool_, [&]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
            std::shared_ptr<arrow::RecordBatch> next;
            ARROW_RETURN_NOT_OK(batches_->ReadNext(&next));
            return next;
          });
      if (batch) return batch;
      batches_.reset();
    }
  }

  arrow::Result<std::unique_ptr<arrow::RecordBatchReader>> group() const {
#if ARROW_VERSION_MAJOR >= 24
    return reader_->GetRecordBatchReader({group_});
#else
    std::unique_ptr<arrow::RecordBatchReader> batches;
    ARROW_RETURN_NOT_OK(reader_->GetRecordBatchReader({group_}, &batches));
    return batches;
#endif
  }

  double share() const override {
    return static_cast<double>(next_) / static_cast<double>(std::max<size_t>(groups_.size(), 1));
  }

  std::vector<int64_t> parts() const override {
    std::vector<int64_t> bytes;
    for (int i = 0; i < reader_->num_row_groups(); ++i)
      bytes.push_back(reader_->parquet_reader()->metadata()->RowGroup(i)->total_byte_size());
    return bytes;
  }

  void read_only(const std::vector<int>& parts) override { groups_ = parts; }

  int64_t left_out() const override { return left_out_; }

  std::string part() const override {
    return fmt::format("row group {} of the {} of a Parquet file", group_ + 1, reader_->num_row_groups());
  }

  std::shared_ptr<parquet::arrow::FileReader> reader_;
  std::vector<int> groups_;  // those to read
  size_t next_ = 0;          // index of the next of them
  int group_ = -1;           // number of the one that is read
  int64_t left_out_ = 0;     // rows of the groups before it that are not read
  std::unique_ptr<arrow::RecordBatchReader> batches_;
};

class FeatherPieces : public TypedPieces {
 public:
  FeatherPieces(const std::string& path, const TableLimits& limits, int64_t rows)
      : TypedPieces(path, limits), rows_(rows) {
    reader_ = value_of(source_, "a Feather (version 2) or Arrow file", *pool_,
                       [&]() -> arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchFileReader>> {
                         ARROW_ASSIGN_OR_RAISE(auto file, opened(path));
                         auto options = arrow::ipc::IpcReadOptions::Defaults();
                         options.memory_pool = pool_.get();
                         options.use_threads = false;
                         return arrow::ipc::RecordBatchFileReader::Open(file, options);
                       });
    rows_ = rows_at_once(rows, reader_->schema()->num_fields());
  }

 private:
  std::shared_ptr<arrow::RecordBatch> next_batch() override {
    while (!batch_ || begin_ >= batch_->num_rows()) {
      if (number_ + 1 >= reader_->num_record_batches()) {
        check_any_rows(rows_before_, source_);  // at the end: the file does not list the rows of its batches
        return nullptr;
      }
      ++number_;
      batch_ = value_of(source_, part(), *pool_, [&] { return reader_->ReadRecordBatch(number_); });
      begin_ = 0;
    }
    const int64_t count = std::min(rows_, batch_->num_rows() - begin_);
    return batch_->Slice(std::exchange(begin_, begin_ + count), count);
  }

  double share() const override {
    return static_cast<double>(number_ + 1) / std::max(reader_->num_record_batches(), 1);
  }

  std::string part() const override {
    return fmt::format("record batch {} of the {} of a Feather or Arrow file", number_ + 1,
                       reader_->num_record_batches());
  }

  int64_t rows_;
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader_;
  int number_ = -1;
  std::shared_ptr<arrow::RecordBatch> batch_;
  int64_t begin_ = 0;
};

class CsvBlocks : public TablePieces {
 public:
  /// `delimiter`: between columns; empty: that of the notation of the first reading.
  CsvBlocks(const std::string& path, const TableLimits& limits, std::optional<char> delimiter, bool packed,
            int64_t size)
      : source_(path),
        limits_(limits),
        asked_(delimiter),
        size_(size),
        pool_(std::make_shared<TablePool>(TableBound::of(limits, 0), 0, source_)) {
    stream_ = value_of(
        source_, "a file of text", *pool_, [&]() -> arrow::Result<std::shared_ptr<arrow::io::InputStream>> {
          ARROW_ASSIGN_OR_RAISE(auto file, opened(path));
          file_ = file;
          if (!packed) return std::shared_ptr<arrow::io::InputStream>(std::move(file));
          ARROW_ASSIGN_OR_RAISE(auto codec, arrow::util::Codec::Create(arrow::Compression::GZIP));
          codec_ = std::move(codec);
          ARROW_ASSIGN_OR_RAISE(auto inner, arrow::io::CompressedInputStream::Make(codec_.get(), file));
          return std::shared_ptr<arrow::io::InputStream>(std::move(inner));
        });
  }

  std::optional<Table> next(const Reading& reading) override {
    if (header_.empty()) delimiter_ = asked_.value_or(separator_of_csv(reading.notation));
    while (true) {
      std::string block = next_block();
      const bool first = header_.empty();
      if (block.empty() && !first) return {};
      if (!first && block.find_first_not_of("\r\n") == std::string::npos) {
        skipped_ += lines_of(block);
        continue;
      }
      const TableFile file{source_, reading, TableBound::of(limits_, 0), first ? 0 : skipped_, rows_before_};
      if (first) {
        while (!ended_ && has_only_header(block)) block += next_block();
        Table table = parse_csv(block, delimiter_, file);
        header_ = block.substr(0, header_size(block));
        skipped_ = lines_of(std::string_view(block).substr(header_.size()));
        rows_before_ = table.rows;
        return table;
      }
      skipped_ += lines_of(block);
      Table table = parse_csv(header_ + block, delimiter_, file);
      rows_before_ += table.rows;
      return table;
    }
  }

  double share() const override {
    const auto size = file_->GetSize(), at = file_->Tell();
    return size.ok() && at.ok() && *size > 0 ? static_cast<double>(*at) / static_cast<double>(*size) : 1;
  }

 private:
  static int64_t lines_of(std::string_view text) { return line_at(text, text.size()) - 1; }

  /// Returns the next records, of about size_ bytes; "" at the end.
  std::string next_block() {
    int64_t wanted = size_;
    while (true) {
      while (!ended_ && std::ssize(text_) < wanted) read_more(wanted - std::ssize(text_));
      if (ended_) return std::exchange(text_, "");
      const size_t whole = whole_records(text_, delimiter_);
      const bool cut =
          whole == text_.size() && text_.ends_with('\r');  // perhaps within a line end of two bytes
      if (cut) {
        read_more(1);
        continue;
      }
      if (whole > 0) {
        std::string rest = text_.substr(whole);
        text_.resize(whole);
        return std::exchange(text_, std::move(rest));
      }
      wanted *= 2;  // the record is longer than the block
      TableBound::of(limits_, 0).check(static_cast<uint64_t>(wanted), source_);
    }
  }

  void read_more(int64_t bytes) {
    const auto got = value_of(source_, "a whole file of text", *pool_,
                              [&] { return stream_->Read(std::min<int64_t>(bytes, 1 << 20)); });
    ended_ = got->size() == 0;
    text_.append(reinterpret_cast<const char*>(got->data()), static_cast<size_t>(got->size()));
  }

  /// Returns the bytes of the header's record at the beginning of a file.
  size_t header_size(const std::string& block) const {
    const size_t mark = block.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    const CsvRecords header(std::string_view(block).substr(mark), delimiter_, *pool_, -1, 1);
    return mark + header.bytes;
  }

  bool has_only_header(const std::string& block) const {
    return block.find_first_not_of("\r\n", header_size(block)) == std::string::npos;
  }

  std::string source_;
  TableLimits limits_;
  std::optional<char> asked_;
  char delimiter_ = ',';
  int64_t size_;
  std::shared_ptr<TablePool> pool_;
  std::unique_ptr<arrow::util::Codec> codec_;
  std::shared_ptr<arrow::io::RandomAccessFile> file_;
  std::shared_ptr<arrow::io::InputStream> stream_;  // the unpacked bytes of file_
  std::string header_, text_;                       // the header's record; what is read and not yet given
  int64_t skipped_ = 0;                             // lines of the records given so far
  int64_t rows_before_ = 0;                         // those records
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<TablePieces> open_pieces(const std::filesystem::path& file, const TableLimits& limits,
                                         int64_t rows, int64_t text) {
  std::string name = file.filename().string();
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::string path = file.string();
  if (name.ends_with(".parquet")) return std::make_unique<ParquetPieces>(path, limits, rows);
  const auto is_text = [&](const char* ending) {
    return name.ends_with(ending) || name.ends_with(std::string(ending) + ".gz");
  };
  const bool csv = is_text(".csv");
  if (csv || is_text(".tsv"))
    return std::make_unique<CsvBlocks>(path, limits, csv ? std::nullopt : std::optional('\t'),
                                       name.ends_with(".gz"), text);
  return std::make_unique<FeatherPieces>(path, limits, rows);
}

}  // namespace slimbayes
