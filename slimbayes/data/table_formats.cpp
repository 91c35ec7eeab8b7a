// Parquet, Feather and gzip: whole files in memory, through Arrow. A damaged file may come back as a Status
// or as an exception from deep inside; both leave here as one DataError. Decoded arrays are validated before
// they are walked, because a hostile file can hold offsets that point outside its buffers.
#include <arrow/api.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>
#include <arrow/util/compression.h>
#include <arrow/util/config.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

#include "slimbayes/data/table_arrow.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

std::shared_ptr<arrow::io::BufferReader> reader_of(std::span<const std::byte> bytes) {
  return std::make_shared<arrow::io::BufferReader>(
      std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

arrow::Result<std::shared_ptr<arrow::Table>> read_parquet(std::span<const std::byte> bytes) {
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(reader_of(bytes)));
  std::unique_ptr<parquet::arrow::FileReader> reader;
  ARROW_RETURN_NOT_OK(builder.Build(&reader));
  reader->set_use_threads(true);
#if ARROW_VERSION_MAJOR >= 24
  return reader->ReadTable();
#else
  std::shared_ptr<arrow::Table> table;
  ARROW_RETURN_NOT_OK(reader->ReadTable(&table));
  return table;
#endif
}

arrow::Result<std::shared_ptr<arrow::Table>> read_feather(std::span<const std::byte> bytes) {
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(reader_of(bytes)));
  arrow::RecordBatchVector batches;
  for (int i = 0; i < reader->num_record_batches(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->ReadRecordBatch(i));
    batches.push_back(std::move(batch));
  }
  return arrow::Table::FromRecordBatches(reader->schema(), batches);
}

arrow::Result<std::string> read_gzip(std::span<const std::byte> bytes) {
  ARROW_ASSIGN_OR_RAISE(auto codec, arrow::util::Codec::Create(arrow::Compression::GZIP));
  ARROW_ASSIGN_OR_RAISE(auto stream, arrow::io::CompressedInputStream::Make(codec.get(), reader_of(bytes)));
  std::string text;
  constexpr int64_t block = 1 << 20;
  for (int64_t got = block; got > 0;) {
    size_t size = text.size();
    text.resize(size + block);
    ARROW_ASSIGN_OR_RAISE(got, stream->Read(block, text.data() + size));
    text.resize(size + static_cast<size_t>(got));
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
                  what, message.substr(0, message.find('\n'))));
}

template <class Read>
Table parsed(std::span<const std::byte> bytes, const std::string& source, std::string_view what, Read read) {
  std::shared_ptr<arrow::Table> data;
  try {
    data = value_or_throw(read(bytes), source, what);
    if (auto status = data->ValidateFull(); !status.ok()) {
      value_or_throw(arrow::Result<int>(status), source, what);
    }
  } catch (const DataError&) {
    throw;
  } catch (const std::exception& error) {
    value_or_throw(arrow::Result<int>(arrow::Status::IOError(error.what())), source, what);
  }
  return from_arrow(*data, source);
}

template <class Write>
std::string formatted(const Table& table, Write write) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto data = to_arrow(table);
  arrow::Status status = write(*data, sink);
  auto buffer = sink->Finish();
  if (!status.ok()) throw std::runtime_error(status.message());
  return buffer.ValueOrDie()->ToString();
}

}  // namespace

Table parse_parquet(std::span<const std::byte> bytes, const std::string& source) {
  return parsed(bytes, source, "a Parquet file", read_parquet);
}

Table parse_feather(std::span<const std::byte> bytes, const std::string& source) {
  return parsed(bytes, source, "a Feather (version 2) or Arrow file", read_feather);
}

std::string format_parquet(const Table& table) {
  return formatted(table, [](const arrow::Table& data, const auto& sink) {
    return parquet::arrow::WriteTable(data, arrow::default_memory_pool(), sink);
  });
}

std::string format_feather(const Table& table) {
  return formatted(table, [](const arrow::Table& data, const auto& sink) -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeFileWriter(sink, data.schema()));
    ARROW_RETURN_NOT_OK(writer->WriteTable(data));
    return writer->Close();
  });
}

std::string gunzip(std::span<const std::byte> bytes, const std::string& source) {
  if (bytes.empty()) throw DataError(source, "expected a gzip file; received an empty file; check the path");
  return value_or_throw(read_gzip(bytes), source, "a whole gzip file");
}

}  // namespace slimbayes
