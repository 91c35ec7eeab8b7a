#include "slimbayes/data/table/table_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <system_error>
#include <utility>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/table/pieces.h"
#include "slimbayes/data/table/table_parts.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kText = int64_t{8} << 20;  // most bytes of a piece of a text file

}  // namespace

class TableStream::Impl {
 public:
  Impl(const std::vector<fs::path>& files, std::string source, Reading reading, const TableLimits& limits)
      : files_(files_of_table(files)),
        source_(std::move(source)),
        limits_(limits),
        text_(limits.memory > 0 ? std::min<int64_t>(kText, static_cast<int64_t>(limits.memory) / 32 + 1)
                                : kText),
        known_(std::move(reading)) {
    limits_.pieces = true;
    for (const fs::path& file : files_) {
      parts_.push_back({file.string(), std::ssize(parts_) * kFileRows});
      stamps_.push_back(stamp_of(file));
      if (!is_table_name(file))
        throw DataError(file.string(),
                        "expected a table (.csv, .parquet, .feather and the like); received another "
                        "file; read piece by piece are tables alone");
    }
  }

  std::optional<Table> next() {
    while (true) {
      if (!pieces_) {
        while (file_ < files_.size() && !own_.empty() && own_[file_].empty()) ++file_;
        if (file_ == files_.size()) return {};
        row_ = 0;
        pieces_ = opened();
        if (!own_.empty()) pieces_->read_only(own_[file_]);
      }
      std::optional<Table> piece = pieces_->next(known_.next());
      if (!piece) {
        pieces_.reset();
        check_unchanged();
        ++file_;
        continue;
      }
      known_.take(*piece);
      piece->numbers.resize(static_cast<size_t>(piece->rows));
      std::iota(piece->numbers.begin(), piece->numbers.end(),
                parts_[file_].first + pieces_->left_out() + row_);
      piece->parts = parts_;
      row_ += piece->rows;
      return piece;
    }
  }

  void rewind() {
    file_ = 0;
    pieces_.reset();
  }

  std::vector<std::string> files() const {
    std::vector<std::string> all;
    for (size_t i = 0; i < files_.size(); ++i)
      all.push_back(fmt::format("{} of {} bytes", files_[i].filename().string(), stamps_[i].size));
    return all;
  }

  bool read_share(int64_t reader, int64_t readers) {
    read_all();
    std::vector<Part> parts = all_parts();
    std::ranges::stable_sort(parts, std::greater(), &Part::bytes);
    std::vector<int64_t> bytes(static_cast<size_t>(readers));
    std::vector<std::vector<int>> own(files_.size());
    for (const Part& part : parts) {
      const auto least = std::ranges::min_element(bytes);
      if (least - bytes.begin() == reader) own[part.file].push_back(part.number);
      *least += part.bytes;
    }
    const int64_t mean = std::reduce(bytes.begin(), bytes.end()) / readers;
    if (std::ranges::min(bytes) < mean / 2 + 1) return false;
    for (std::vector<int>& one : own) std::ranges::sort(one);
    own_ = std::move(own);
    return true;
  }

  void read_all() {
    own_.clear();
    rewind();
  }

  std::map<std::string, ColumnKind, std::less<>> kinds() const { return known_.next().kinds; }
  void know(const std::map<std::string, ColumnKind, std::less<>>& kinds) { known_.know(kinds); }

  double share() const {
    double read = 0, all = 0;
    for (size_t i = 0; i < stamps_.size(); ++i) {
      if (!own_.empty() && own_[i].empty()) continue;
      const auto size = static_cast<double>(stamps_[i].size);
      all += size;
      read += i < file_ ? size : i == file_ && pieces_ ? size * pieces_->share() : 0;
    }
    return all > 0 ? read / all : 1;
  }
  const std::string& source() const { return source_; }

 private:
  /// The size and the time of the last change of a file, by which a change is found.
  struct Stamp {
    uint64_t size = 0;
    fs::file_time_type time = {};
    bool operator==(const Stamp&) const = default;
  };

  /// A part of a file that can be read without the others.
  struct Part {
    size_t file;
    int number;
    int64_t bytes;
  };

  std::unique_ptr<TablePieces> opened() const {
    check_unchanged();
    return open_pieces(files_[file_], limits_, kPieceRows, text_);
  }

  std::vector<Part> all_parts() {
    std::vector<Part> all;
    for (file_ = 0; file_ < files_.size(); ++file_) {
      const std::vector<int64_t> bytes = opened()->parts();
      for (size_t i = 0; i < bytes.size(); ++i) all.push_back({file_, static_cast<int>(i), bytes[i]});
      if (bytes.empty()) all.push_back({file_, 0, static_cast<int64_t>(stamps_[file_].size)});
    }
    file_ = 0;
    return all;
  }

  static Stamp stamp_of(const fs::path& file) {
    std::error_code failed;
    Stamp stamp{fs::file_size(file, failed), {}};
    if (!failed) stamp.time = fs::last_write_time(file, failed);
    if (failed)
      throw DataError(file.string(),
                      fmt::format("expected a file to read; received: {}; check the path", failed.message()));
    return stamp;
  }

  void check_unchanged() const {
    if (stamp_of(files_[file_]) == stamps_[file_]) return;
    throw DataError(files_[file_].string(),
                    "expected a file that does not change during the fit; received one that has changed; fit "
                    "again");
  }

  std::vector<fs::path> files_;
  std::vector<Stamp> stamps_;  // by file
  std::string source_;
  TableLimits limits_;
  int64_t text_;  // bytes of a piece of a text file
  KnownColumns known_;
  size_t file_ = 0;
  std::unique_ptr<TablePieces> pieces_;  // of files_[file_]
  std::vector<TablePart> parts_;         // the files
  std::vector<std::vector<int>> own_;    // by file: the parts to read; empty: all
  int64_t row_ = 0;                      // the rows of the file so far
};

TableStream::TableStream(const std::vector<fs::path>& files, std::string source, Reading reading,
                         const TableLimits& limits)
    : impl_(std::make_unique<Impl>(files, std::move(source), std::move(reading), limits)) {}

TableStream::~TableStream() = default;
TableStream::TableStream(TableStream&&) noexcept = default;
TableStream& TableStream::operator=(TableStream&&) noexcept = default;

std::optional<Table> TableStream::next() { return impl_->next(); }

void TableStream::rewind() { impl_->rewind(); }

std::vector<std::string> TableStream::files() const { return impl_->files(); }

bool TableStream::read_share(int64_t reader, int64_t readers) { return impl_->read_share(reader, readers); }

void TableStream::read_all() { impl_->read_all(); }

std::map<std::string, ColumnKind, std::less<>> TableStream::kinds() const { return impl_->kinds(); }

void TableStream::know(const std::map<std::string, ColumnKind, std::less<>>& kinds) { impl_->know(kinds); }

double TableStream::share() const { return impl_->share(); }

const std::string& TableStream::source() const { return impl_->source(); }

}  // namespace slimbayes
