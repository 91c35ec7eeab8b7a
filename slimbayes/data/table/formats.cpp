// Reads and writes Parquet, Feather and gzip as whole files in memory, through Arrow. Arrow reports a damaged
// file by a Status or by an exception; both become a DataError here. Decoded arrays are validated before they
// are used, because a hostile file can hold offsets that point outside its buffers.
#include <arrow/api.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>
#include <arrow/util/compression.h>
#include <arrow/util/config.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

#include <algorithm>
#include <new>

#include "slimbayes/data/table/arrow.h"
#include "slimbayes/data/table/pool.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

std::shared_ptr<arrow::io::BufferReader> reader_of(std::span<const std::byte> bytes) {
  return std::make_shared<arrow::io::BufferReader>(
      std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

arrow::Result<std::shared_ptr<arrow::Table>> read_parquet(std::span<const std::byte> bytes,
                                                          arrow::MemoryPool* pool) {
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(reader_of(bytes), parquet::ReaderProperties(pool)));
  builder.memory_pool(pool);
  std::unique_ptr<parquet::arrow::FileReader> reader;
  ARROW_RETURN_NOT_OK(builder.Build(&reader));
  reader->set_use_threads(false);  // the pool's std::bad_alloc could not leave a thread of Arrow
#if ARROW_VERSION_MAJOR >= 24
  return reader->ReadTable();
#else
  std::shared_ptr<arrow::Table> table;
  ARROW_RETURN_NOT_OK(reader->ReadTable(&table));
  return table;
#endif
}

arrow::Result<std::shared_ptr<arrow::Table>> read_feather(
    const std::shared_ptr<arrow::io::BufferReader>& file, arrow::MemoryPool* pool) {
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = pool;
  options.use_threads = false;
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(file, options));
  arrow::RecordBatchVector batches;
  for (int i = 0; i < reader->num_record_batches(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->ReadRecordBatch(i));
    batches.push_back(std::move(batch));
  }
  return arrow::Table::FromRecordBatches(reader->schema(), batches);
}

/// Reads a Feather file from a copy of `bytes`. The cells of the table own the copy, so that they may outlive
/// `bytes`.
arrow::Result<std::shared_ptr<arrow::Table>> read_copied_feather(std::span<const std::byte> bytes,
                                                                 arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto copy, arrow::AllocateBuffer(static_cast<int64_t>(bytes.size()), pool));
  std::ranges::copy(bytes, reinterpret_cast<std::byte*>(copy->mutable_data()));
  return read_feather(
      std::make_shared<arrow::io::BufferReader>(std::shared_ptr<arrow::Buffer>(std::move(copy))), pool);
}

/// Returns the unpacked size that a gzip file claims in its last four bytes, so that memory can be reserved.
/// The claim may be wrong: it is the size modulo 2^32 of the last of the parts that a gzip file may have.
/// Returns 0 if it is more than deflate can compress into a file of this size.
size_t claimed_size(std::span<const std::byte> bytes) {
  constexpr size_t kMostDeflated = 1032;
  if (bytes.size() < 4) return 0;
  size_t size = 0;
  for (const std::byte byte :
       {bytes[bytes.size() - 1], bytes[bytes.size() - 2], bytes[bytes.size() - 3], bytes[bytes.size() - 4]})
    size = size << 8 | std::to_integer<size_t>(byte);
  return size <= kMostDeflated * bytes.size() ? size : 0;
}

arrow::Result<std::string> read_gzip(std::span<const std::byte> bytes, const std::string& source,
                                     const TableBound& bound) {
  ARROW_ASSIGN_OR_RAISE(auto codec, arrow::util::Codec::Create(arrow::Compression::GZIP));
  ARROW_ASSIGN_OR_RAISE(auto stream, arrow::io::CompressedInputStream::Make(codec.get(), reader_of(bytes)));
  std::string text;
  constexpr int64_t block = 1 << 20;
  const size_t claimed = claimed_size(bytes);
  bound.check_unpacked(claimed, source);
  text.reserve(claimed + block);
  for (int64_t got = block; got > 0;) {
    size_t size = text.size();
    text.resize(size + block);
    ARROW_ASSIGN_OR_RAISE(got, stream->Read(block, text.data() + size));
    text.resize(size + static_cast<size_t>(got));
    bound.check_unpacked(text.size(), source);
  }
  return text;
}

template <class T>
T value_or_throw(arrow::Result<T> result, const std::string& source, std::string_view what) {
  if (result.ok()) return std::move(result).ValueUnsafe();
  std::string message = result.status().message();
  throw DataError(
      source,
      fmt::format("expected {}; received what Arrow cannot read: {}; write the file again, or check its "
                  "ending",
                  what, foreign_text(message.substr(0, message.find('\n')))));
}

template <class Read>
Table parsed(std::span<const std::byte> bytes, const TableFile& file, std::string_view what, Read read) {
  const auto pool = std::make_shared<TablePool>(file.bound, bytes.size(), file.source);
  const auto checked = [&](auto result) {
    pool->check(result.status());
    return value_or_throw(std::move(result), file.source, what);
  };
  std::shared_ptr<arrow::Table> data;
  try {
    data = checked(read(bytes, pool.get()));
    if (auto status = data->ValidateFull(); !status.ok()) checked(arrow::Result<int>(status));
  } catch (const DataError&) {
    throw;
  } catch (const OutOfMemory&) {
    throw;
  } catch (const std::bad_alloc&) {
    pool->throw_shortage();
  } catch (const std::exception& error) {
    checked(arrow::Result<int>(arrow::Status::IOError(error.what())));
  }
  return from_arrow(std::move(data), file, pool);
}

template <class Write>
std::string formatted(const Table& table, const std::string& path, bool dictionaries, Write write) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto data = to_arrow(table, dictionaries);
  arrow::Status status = write(*data, sink);
  auto buffer = sink->Finish();
  if (status.IsOutOfMemory()) throw std::bad_alloc();
  if (status.IsNotImplemented()) {
    throw DataError(
        path, fmt::format("expected columns of types that such a file holds; received others: {}; write a "
                          ".csv or a .feather",
                          foreign_text(status.message())));
  }
  if (!status.ok()) throw std::runtime_error(foreign_text(path) + ": " + foreign_text(status.message()));
  return buffer.ValueOrDie()->ToString();
}

}  // namespace

Table parse_parquet(std::span<const std::byte> bytes, const TableFile& file) {
  return parsed(bytes, file, "a Parquet file", read_parquet);
}

Table parse_feather(std::span<const std::byte> bytes, const TableFile& file) {
  // Arrow does not copy the cells of an uncompressed Feather file: they point into `bytes`. The caller frees
  // `bytes`, but Column::kept keeps the cells. So for kept columns the file is read from a copy, which the
  // cells own.
  const bool copies = !file.reading.kept.empty();
  const auto read = [copies](std::span<const std::byte> content, arrow::MemoryPool* pool) {
    return copies ? read_copied_feather(content, pool) : read_feather(reader_of(content), pool);
  };
  return parsed(bytes, file, "a Feather (version 2) or Arrow file", read);
}

std::string format_parquet(const Table& table, const std::string& path) {
  return formatted(table, path, false, [](const arrow::Table& data, const auto& sink) {
    // Arrow's schema is stored too. From it a reader restores the time zones, time units and dictionaries of
    // kept columns, which Parquet's own schema does not hold in full.
    return parquet::arrow::WriteTable(data, arrow::default_memory_pool(), sink,
                                      parquet::DEFAULT_MAX_ROW_GROUP_LENGTH,
                                      parquet::default_writer_properties(),
                                      parquet::ArrowWriterProperties::Builder().store_schema()->build());
  });
}

std::string format_feather(const Table& table, const std::string& path) {
  return formatted(table, path, true, [](const arrow::Table& data, const auto& sink) -> arrow::Status {
    auto options = arrow::ipc::IpcWriteOptions::Defaults();
    // A Feather file has one dictionary for all chunks of a column, but the chunks of a kept column may have
    // different ones. This merges them.
    options.unify_dictionaries = true;
    ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeFileWriter(sink, data.schema(), options));
    ARROW_RETURN_NOT_OK(writer->WriteTable(data));
    return writer->Close();
  });
}

std::string gunzip(std::span<const std::byte> bytes, const std::string& source, const TableBound& bound) {
  if (bytes.empty()) throw DataError(source, "expected a gzip file; received an empty file; check the path");
  return value_or_throw(read_gzip(bytes, source, bound), source, "a whole gzip file");
}

std::string gunzip_head(std::span<const std::byte> bytes, int64_t size) {
  const auto read = [&]() -> arrow::Result<std::string> {
    ARROW_ASSIGN_OR_RAISE(auto codec, arrow::util::Codec::Create(arrow::Compression::GZIP));
    ARROW_ASSIGN_OR_RAISE(auto stream, arrow::io::CompressedInputStream::Make(codec.get(), reader_of(bytes)));
    ARROW_ASSIGN_OR_RAISE(const auto head, stream->Read(size));
    return head->ToString();
  };
  return read().ValueOr("");
}

}  // namespace slimbayes
